import Foundation
import NanoStore

let store = try Store(.memory)
let films = store["films"]
let url = URL(fileURLWithPath: "poster.jpg")
let download = AsyncStream<UInt8> { $0.finish() }
