import NanoStore

let path = "library.db"
let films = try Store(.memory)["films"]
