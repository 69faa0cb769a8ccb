import NanoStore

let films = try Store(.memory)["films"]
