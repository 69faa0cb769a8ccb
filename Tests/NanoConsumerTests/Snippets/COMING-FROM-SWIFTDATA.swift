import Foundation
import NanoStoreModels

let folder = "."
