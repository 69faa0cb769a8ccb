// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// Writes or reads small attachments. The baseline is a document that contains the same bytes, and the ratio is what
/// the attachment costs. The result is the number of documents or bytes.
struct AttachmentScenario: Scenario {
  enum Kind: String { case write, read }
  let workload: Workload
  let kind: Kind

  private static let size = 4_000

  var name: String { "attachment-\(kind)" }
  var work: String {
    switch kind {
    case .write:
      "store 4 kB beside an existing document, one commit each, relative to 4 kB in the document"
    case .read: "read 4 kB beside a document, relative to 4 kB in the document"
    }
  }
  var unit: String { kind == .write ? "commit" : "read" }
  var operations: Int { workload.commits }

  var raw: Variant { variant("NanoStore, in the document", nil, isAttached: false) }
  var record: Variant? { nil }
  var ours: [Variant] { [variant("an attachment", 1.5, isAttached: true)] }

  private func variant(_ name: String, _ target: Double?, isAttached: Bool) -> Variant {
    Variant(name, target: target) { [operations, kind] folder in
      // Every content is different, so that none is stored only once.
      let contents = (0..<operations).map { number in
        var bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: Self.size)
        withUnsafeBytes(of: number) { bytes.replaceSubrange(0..<8, with: $0) }
        return bytes
      }
      return { watch in
        let store = try Store.untuned(folder.freshFile("attachments.db"))
        let films = store["films"]
        let keys = (0..<operations).map { "film-\($0)" }
        try await store.write {
          for key in keys { try films.save(["title": .string(key)], key: key) }
        }
        func write() throws {
          for (key, content) in zip(keys, contents) {
            if isAttached {
              try films.attach(.data(content), named: "poster", to: key)
            } else {
              try films.update(key, set: ["poster": .data(content)])
            }
          }
        }
        switch kind {
        case .write:
          try watch.measure { try write() }
          return try await films.count()
        case .read:
          try write()
          return try watch.measure {
            try keys.reduce(0) { sum, key in
              guard isAttached else {
                return try sum + (films.get(key)?["poster"]?.data?.count ?? 0)
              }
              return try sum + films.attachments(of: key).data("poster").count
            }
          }
        }
      }
    }
  }
}
