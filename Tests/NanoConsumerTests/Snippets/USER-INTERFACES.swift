import NanoStoreModels
import Observation

let store = try Store(.memory)
let context = ObjectContext(store)
let track = try context.insert(Track("Summertime", seconds: 298, album: "Porgy and Bess"))
