// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// Compares two stores: documents by checksums, everything else by value.
///
/// Confined to the thread that runs it.
final class StoreComparison {
  let source: any EngineReader
  let target: any EngineReader
  private let notify: ((CopyProgress) throws -> Void)?
  /// Returns the time by which documents have expired in both stores, in microseconds since 1970.
  let now: () -> Int64
  private var progress = CopyProgress(phase: .verification)
  private var report = CopyReport()
  /// Checksums of the source's collections that are already computed.
  var known: [ExactName: DocumentChecksum] = [:]
  /// Definitions that the target is not expected to have.
  var omitted: [CopyReport.OmittedDefinition] = []

  /// The number of documents between two progress reports. Arbitrary: frequent enough for a
  /// progress bar.
  private static let step = 1_000

  init(
    _ source: any EngineReader, _ target: any EngineReader,
    _ notify: ((CopyProgress) throws -> Void)?, now: @escaping () -> Int64
  ) {
    self.source = source
    self.target = target
    self.notify = notify
    self.now = now
  }

  func run() throws -> CopyReport {
    report.omitted = omitted
    let sources = try Self.byName(source)
    let targets = try Self.byName(target)
    for collection in sources.values {
      progress.total += try source.count(Query(), in: collection.name)
    }
    let names = Set(sources.keys).union(targets.keys)
    for folded in names.sorted() {
      guard let collection = sources[folded] ?? targets[folded] else { continue }
      try compareDocuments(of: collection.name)
      guard let expectedCollection = sources[folded], let found = targets[folded] else {
        note(
          collection.name,
          sources[folded] == nil
            ? "the collection is not in the source" : "the collection is missing")
        continue
      }
      try compareDefinitions(expectedCollection, found)
    }
    try compareMetadata()
    try compareAttachments()
    return report
  }

  private static func byName(
    _ reader: any EngineReader
  ) throws -> [ExactName: CollectionDescription] {
    Dictionary(
      try reader.collections().map { ($0.name.folded, $0) }, uniquingKeysWith: { $1 })
  }

  /// The name of a change feed among definitions.
  static let feedName = "change tracking"

  func note(_ subject: String, _ message: String) {
    report.differences.append(VerificationProblem(subject: subject, message: message))
  }
}

extension StoreComparison {
  private func compareDocuments(of collection: String) throws {
    progress.collection = collection
    let before = progress.documents
    var expected =
      try known[ExactName(collection)]
      ?? checksum(source, collection) { self.progress.documents += $0 }
    progress.documents = before + expected.documents
    try notify?(progress)
    var found = try checksum(target, collection) { _ in }
    if expected != found, let expired = try expired(in: collection) {
      expected = try checksum(source, collection, without: expired.source) { _ in }
      found = try checksum(target, collection, without: expired.target) { _ in }
    }
    try compareExpirations(of: collection)
    report.collections.append(
      CopyReport.Collection(
        name: collection, source: expected.contents, target: found.contents))
  }

  private func checksum(
    _ reader: any EngineReader, _ collection: String, without omitted: Set<Int64> = [],
    _ count: (Int) -> Void
  ) throws -> DocumentChecksum {
    var checksum = DocumentChecksum()
    try reader.find(Query(), in: collection) { document in
      guard !omitted.contains(document.rowID) else { return true }
      try checksum.add(document)
      if checksum.documents.isMultiple(of: Self.step) {
        count(Self.step)
        try notify?(progress)
      }
      return true
    }
    return checksum
  }

  private func compareDefinitions(
    _ expectedCollection: CollectionDescription, _ found: CollectionDescription
  ) throws {
    let name = expectedCollection.name
    if expectedCollection.identity != found.identity {
      note(name, "documents are identified differently")
    }
    let settings = try (source.settings(of: name), target.settings(of: name))
    if try Self.stored(.object(settings.0.object)) != Self.stored(.object(settings.1.object)) {
      note(name, "the settings differ")
    }
    let expected = Set(try CollectionDefinitions(of: name, source).all.map(Self.comparable))
    let actual = Set(try CollectionDefinitions(of: name, target).all.map(Self.comparable))
    for definition in expected.subtracting(actual)
    where !omitted.contains(where: {
      $0.collection.hasSameBytes(as: name) && $0.definition.hasSameBytes(as: definition.name)
    }) {
      note(name, "\(definition.name) is missing or differs")
    }
    for definition in actual.subtracting(expected)
    where !expected.contains(where: { $0.name.hasSameBytes(as: definition.name) }) {
      note(name, "\(definition.name) is not in the source")
    }
    if try source.feed(of: name) != target.feed(of: name),
      !omitted.contains(where: {
        $0.collection.hasSameBytes(as: name) && $0.definition == Self.feedName
      })
    {
      note(name, "the change feed differs")
    }
    if let highest = try source.highestRowID(in: name),
      let other = try target.highestRowID(in: name),
      other < highest
    {
      note(name, "row IDs of deleted documents will be reused")
    }
  }

  /// Ignores the recorded reason for an index.
  private static func comparable(_ definition: CollectionDefinitions.Definition)
    -> CollectionDefinitions.Definition
  {
    guard case .index(var index) = definition else { return definition }
    index.reason = nil
    return .index(index)
  }

  /// Finds content that documents of the source refer to and the target lacks. It is identified by its digest.
  private func compareAttachments() throws {
    guard !omitted.contains(where: { $0.definition == StoreCopy.attachmentsName }),
      try !source.blobs(after: 0, limit: 1).isEmpty
    else { return }
    let marks = try BlobMarks(source)
    let unreadable = try marks.unreadable(in: source)
    let missing = try marks.digests.count { digest in
      guard try target.blob(digest) == nil else { return false }
      return try unreadable.contains(digest) || source.blob(digest) != nil
    }
    if missing > 0 { note(StoreCopy.attachmentsName, "the content of \(missing) is missing") }
  }

  private func compareMetadata() throws {
    let all = try source.metadataNames() + target.metadataNames()
    let names = Set(all.map { ExactName($0) })
    for name in names.subtracting(CollectionDefinitions.ownNames).sorted().map(\.text) {
      let expected = try source.metadata(name).map(Self.stored)
      let found = try target.metadata(name).map(Self.stored)
      if expected != found { note("metadata", "\(name) differs") }
    }
  }

  /// Encodes a value in stored form, since NaN is not equal to itself.
  private static func stored(_ value: DocumentValue) throws -> [UInt8] {
    var writer = JSONWriter()
    writer.value(value)
    if let failure = writer.failure { throw failure }
    return Array(writer.bytes)
  }
}
