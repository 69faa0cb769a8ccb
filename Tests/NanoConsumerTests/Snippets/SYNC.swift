import NanoStore
import NanoStoreSync

let token = "secret"
let backup = try Store(.memory)
