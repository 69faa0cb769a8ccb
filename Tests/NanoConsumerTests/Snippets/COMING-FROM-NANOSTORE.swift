import NanoStore

let store = try Store(.memory)
let objects = store["objects"]
