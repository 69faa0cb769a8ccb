// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A copy in progress: a snapshot of the source, written to the target in many transactions.
///
/// Confined to the thread that runs it.
final class StoreCopy {
  let source: any EngineReader
  let target: any Engine
  let options: CopyOptions
  let notify: ((CopyProgress) throws -> Void)?
  /// Returns the time by which documents have expired in both stores, in microseconds since 1970.
  let now: () -> Int64
  var progress = CopyProgress(phase: .documents)
  var checkpoint = CopyCheckpoint(sources: [:])
  /// Whether the target already has some of the documents.
  var isContinued = false
  /// The number of documents written by this call, by collection.
  var copied: [ExactName: Int] = [:]
  /// Checksums of the source's collections, computed while copying.
  var checksums: [ExactName: DocumentChecksum] = [:]
  var omitted: [CopyReport.OmittedDefinition] = []
  /// The row IDs of the collection in progress that are not copied.
  var leftOut: Set<Int64> = []

  init(
    _ source: any EngineReader, _ target: any Engine, _ options: CopyOptions,
    _ notify: ((CopyProgress) throws -> Void)?, now: @escaping () -> Int64
  ) {
    self.source = source
    self.target = target
    self.options = options
    self.notify = notify
    self.now = now
  }

  func run() throws -> CopyReport {
    guard try source.metadata(CopyCheckpoint.name) == nil else { throw Self.isUnfinished }
    let all = try source.collections()
    checkpoint = try CopyCheckpoint(of: source)
    for collection in all { progress.total += try source.count(Query(), in: collection.name) }
    if !options.replacing, let report = try finished(all) { return report }
    try prepare(all)
    try reportProgress()

    let bags = all.filter(\.isInternal)
    let collections = all.filter { !$0.isInternal }
    for collection in collections { try copyDocuments(of: collection.name) }
    try begin(.indexes)
    for collection in collections { try define(collection.name) }
    try begin(.bags)
    for collection in bags {
      try copyDocuments(of: collection.name)
      try define(collection.name)
    }
    try begin(.attachments)
    try copyAttachments()
    try begin(.metadata)
    try copyMetadata()

    let report = try verified()
    try target.write(nil) { try $0.setMetadata(nil, CopyCheckpoint.name) }
    return report
  }

  private static let isUnfinished = StoreError(
    .invalidArgument, "The source has the checkpoint of an unfinished copy",
    [.hint: "complete that copy first, or remove the metadata \(CopyCheckpoint.name)"])

  private func begin(_ phase: CopyProgress.Phase) throws {
    progress.phase = phase
    progress.collection = nil
    try reportProgress()
  }

  func reportProgress() throws { try notify?(progress) }

  /// - Throws: ``StoreError/Code/database`` for the first difference. The checkpoint is kept, so
  ///   that the next copy compares and repairs.
  private func verified() throws -> CopyReport {
    var report = try target.read(.snapshot, nil) { target in
      let comparison = StoreComparison(source, target, notify, now: now)
      comparison.known = checksums
      comparison.omitted = omitted
      return try comparison.run()
    }
    report.isContinued = isContinued
    for index in report.collections.indices {
      report.collections[index].copied = copied[ExactName(report.collections[index].name)] ?? 0
    }
    if let different = report.collections.first(where: { !$0.isEqual }) {
      throw StoreError(
        .database, "The copy of a collection differs from its source",
        [
          .collection: different.name, .expected: Self.text(different.source),
          .actual: Self.text(different.target),
          .hint: "copy again, while no other program writes to it",
        ])
    }
    if let difference = report.differences.first {
      throw StoreError(
        .database, "The copy differs from its source",
        [.text: "\(difference.subject): \(difference.message)", .hint: "copy again"])
    }
    return report
  }

  private static func text(_ contents: CopyReport.Contents) -> String {
    "\(contents.documents) documents with the checksum \(contents.checksum)"
  }
}
