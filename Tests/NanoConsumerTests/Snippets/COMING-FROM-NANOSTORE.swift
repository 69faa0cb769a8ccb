import Foundation
import NanoStoreLegacy

let folder = "."
let oldFile = URL(filePath: "People.nanostore")
let store = try Store(.memory)
let objects = store["objects"]
