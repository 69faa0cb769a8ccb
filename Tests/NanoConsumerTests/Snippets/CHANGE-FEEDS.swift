import Foundation
import NanoStore

struct SearchIndex {
  func update(_ id: Int64, _ document: Document) throws {}
  func remove(_ id: Int64) throws {}
  func removeAll() throws {}
}

let store = try Store(.memory)
let films = store["films"]
let search = SearchIndex()
let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
let position: FeedPosition? = nil
