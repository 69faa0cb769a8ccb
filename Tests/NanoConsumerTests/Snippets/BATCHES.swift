import Foundation
import NanoStore

struct PendingBatch {
  var id = UUID()
  var writes: [DocumentWrite] = []
}

struct Outbox {
  func first() throws -> PendingBatch { PendingBatch() }
  func remove(_ batch: PendingBatch) throws {}
}

let store = try Store(.memory)
let (accounts, journal) = (store["accounts"], store["journal"])
let outbox = Outbox()
let sameWrites: [DocumentWrite] = []
let (transfer, entry): ([DocumentWrite], DocumentObject) = ([], [:])
