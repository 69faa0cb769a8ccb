import NanoStore

let store = try Store(.memory)
let (films, log) = (store["films"], store["log"])
