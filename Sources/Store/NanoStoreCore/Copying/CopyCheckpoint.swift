// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The entry of the target's metadata while a copy is not complete: of which source it is, and how far it
/// came. It changes in the transaction of each batch.
///
/// `{"format":1,"sources":{"films":77},"collection":"films","rowID":2000}`
struct CopyCheckpoint: Equatable {
  static let name = "nano_copy"
  private static let format: Int64 = 1

  /// The incarnations of the source's collections, by folded name, as far as its engine tells them.
  var sources: [ExactName: Int64]
  /// The collection in progress, and the last row of it that was copied: for whoever looks into a copy
  /// that stopped. What there is to do is found by comparing documents.
  var collection: String?
  var rowID: Int64?

  init(sources: [ExactName: Int64]) { self.sources = sources }

  /// Nil for a value that is no mark, as a program may have kept under the name.
  init?(_ value: DocumentValue) {
    guard let object = value.object, object["format"]?.int64 == Self.format,
      let sources = object["sources"]?.object
    else { return nil }
    self.sources = Dictionary(
      sources.compactMap { field in field.value.int64.map { (ExactName(field.name), $0) } },
      uniquingKeysWith: { $1 })
    collection = object["collection"]?.string
    rowID = object["rowID"]?.int64
  }

  var value: DocumentValue {
    var object: DocumentObject = [
      "format": .int(Self.format),
      "sources": .object(
        DocumentObject(sources.sorted { $0.key < $1.key }.map { ($0.key.text, .int($0.value)) })),
    ]
    if let collection { object["collection"] = .string(collection) }
    if let rowID { object["rowID"] = .int(rowID) }
    return .object(object)
  }

  /// Whether both are of one source. A collection keeps its incarnation until it is dropped; of a source whose
  /// engine does not tell them nothing is known, and it counts as the same.
  func isOfSameSource(as other: CopyCheckpoint) -> Bool {
    if sources.isEmpty || other.sources.isEmpty { return true }
    return sources.contains { other.sources[$0.key] == $0.value }
  }
}

extension CopyCheckpoint {
  /// The mark that a copy of a source begins with.
  init(of source: any EngineReader) throws {
    var sources: [ExactName: Int64] = [:]
    for collection in try source.collections() {
      try source.find(Query(limit: 1), in: collection.name) { document in
        sources[collection.name.folded] = document.incarnation
        return false
      }
    }
    self.init(sources: sources)
  }
}
