// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The checkpoint of an incomplete copy, stored in the target's metadata: its source, and how far
/// it has progressed. It is updated in the transaction of each batch.
///
/// `{"format":1,"sources":{"films":77},"collection":"films","rowID":2000}`
struct CopyCheckpoint: Equatable {
  static let name = "nano_copy"
  private static let format: Int64 = 1

  /// The incarnations of the source's collections, by folded name, as far as its engine reports
  /// them.
  var sources: [ExactName: Int64]
  /// The collection in progress, and the row ID of its last copied document. Informational:
  /// resuming compares documents instead.
  var collection: String?
  var rowID: Int64?

  init(sources: [ExactName: Int64]) { self.sources = sources }

  /// Creates a checkpoint from its stored form; nil for any other value that a program stored under
  /// the name.
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

  /// Whether both are checkpoints of the same source. A collection keeps its incarnation until it
  /// is dropped, or on PostgreSQL until its first expiration. If both have none, because an engine
  /// reports no incarnations, the sources count as the same.
  func isOfSameSource(as other: CopyCheckpoint) -> Bool {
    if sources.isEmpty, other.sources.isEmpty { return true }
    return sources.contains { other.sources[$0.key] == $0.value }
  }
}

extension CopyCheckpoint {
  /// Creates the initial checkpoint for a source.
  init(of source: any EngineReader) throws {
    var sources: [ExactName: Int64] = [:]
    for collection in try source.collections() {
      // Unlike a document, the result has the incarnation even if the collection is empty.
      let found = try source.rowIDs(Query(limit: 1), in: collection.name)
      sources[collection.name.folded] = found.incarnation
    }
    self.init(sources: sources)
  }
}
