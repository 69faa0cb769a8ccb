import Foundation
import NanoStoreLegacy
import NanoStoreModels

let folder = "."
let music = try Store(.memory)
let oldFolder = URL(filePath: "Music.bnr")
let id = try ObjectContext(Store(.memory)).insert(Song("Gin")).objectID!
let observer: (any ObjectContextObserver)? = nil
