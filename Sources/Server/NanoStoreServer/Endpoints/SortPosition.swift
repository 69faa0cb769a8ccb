// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSync

/// A field by which `_find` sorts.
struct SortField: Sendable {
  var path: [String]
  var isDescending: Bool
}

/// The place of a document in a sorted result. It stays the same whatever becomes of the document.
struct SortPosition: Sendable {
  private var values: [DocumentValue]
  private var id: String

  init(_ document: DocumentObject, _ sort: [SortField]) {
    values = sort.map { DocumentValue.object(document).value(at: $0.path[...]) ?? .null }
    id = document["_id"]?.string ?? ""
  }

  /// - Throws: ``ProtocolError`` with status 400 if the bookmark is not one of a search that is sorted like this.
  init(bookmark: String, _ sort: [SortField]) throws(ProtocolError) {
    guard let data = Data(base64Encoded: bookmark), let value = try? SyncJSON.value([UInt8](data)),
      var list = value.array, list.count == sort.count + 1, let id = list.removeLast().string
    else {
      throw ProtocolError(400, "invalid_bookmark", "Invalid bookmark value: \"\(bookmark)\"")
    }
    (self.values, self.id) = (list, id)
  }

  var bookmark: String {
    Data(SyncJSON.bytes(DocumentValue.array(values + [.string(id)]))).base64EncodedString()
  }

  func precedes(_ other: SortPosition, _ sort: [SortField]) -> Bool {
    for (index, field) in sort.enumerated() {
      let order = CollationOrder.compare(values[index], other.values[index])
      if order != 0 { return field.isDescending ? order > 0 : order < 0 }
    }
    return id.utf8.lexicographicallyPrecedes(other.id.utf8)
  }
}
