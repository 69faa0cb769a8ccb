import NanoStore

let store = try Store(.memory)
let people = store["people"]
