import NanoStoreModels

let store = try Store(.memory)
