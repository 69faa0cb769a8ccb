import Foundation
import NanoStore
import NanoStoreModels

@Model struct Photo {
  @Key var id = UUID()
  var image: Attachment?
}

let store = try Store(.memory)
let films = store["films"]
let url = URL(fileURLWithPath: "poster.jpg")
let download = AsyncStream<UInt8> { $0.finish() }
