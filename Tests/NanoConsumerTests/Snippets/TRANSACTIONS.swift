import NanoStore

let store = try Store(.memory)
let accounts = store["accounts"]
