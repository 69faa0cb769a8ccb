import Foundation
import NanoStoreModels

let folder = "."
let id = try ObjectContext(Store(.memory)).insert(Song("Gin")).objectID!
let observer: (any ObjectContextObserver)? = nil
