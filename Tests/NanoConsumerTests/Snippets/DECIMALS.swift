import Foundation
import NanoStore

let store = try Store(.memory)
