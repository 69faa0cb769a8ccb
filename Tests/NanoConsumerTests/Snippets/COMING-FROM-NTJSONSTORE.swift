import Foundation
import NanoStoreLegacy

let folder = "."
let oldFile = URL(filePath: "NTJsonStore.db")
