import NanoStore

let folder = "."
