import NanoStore

let store = try Store(.memory)
let films = store["films"]
