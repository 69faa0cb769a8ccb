// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

// Detects a copy that an earlier call completed, but whose process ended before it could report
// success. The checkpoint has been removed by then, so equality of the two stores is the only
// evidence.
extension StoreCopy {
  /// Returns the report for a target that is a complete copy of the source, or nil if it is not.
  /// Nothing is written.
  func finished(_ collections: [CollectionDescription]) throws -> CopyReport? {
    guard try target.read(.snapshot, nil, { try looksFinished(collections, $0) }),
      try noteUnsupported(collections)
    else {
      omitted = []
      return nil
    }
    var report = try target.read(.snapshot, nil) { target in
      let comparison = StoreComparison(source, target, notify, now: now)
      comparison.omitted = omitted
      return try comparison.run()
    }
    guard report.isEqual else {
      omitted = []
      return nil
    }
    report.isContinued = true
    return report
  }

  /// Checks what can be compared without reading documents, so that a target with other contents is
  /// rejected immediately.
  private func looksFinished(
    _ collections: [CollectionDescription], _ target: any EngineReader
  ) throws -> Bool {
    let found = try target.collections()
    guard try target.metadata(CopyCheckpoint.name) == nil,
      try !found.isEmpty || !Self.metadata(of: target).isEmpty,
      Set(found) == Set(collections), try Self.metadata(of: target) == Self.metadata(of: source)
    else { return false }
    // Documents may have expired since the snapshot of the source began.
    let expiring = Set(try source.expiringCollections().map(\.folded))
    return try collections.allSatisfy {
      try expiring.contains($0.name.folded)
        || (!expiring.isEmpty && ExpiredMembers.areIn($0.name))
        || source.count(Query(), in: $0.name) == target.count(Query(), in: $0.name)
    }
  }

  private static func metadata(of reader: any EngineReader) throws -> Set<ExactName> {
    Set(try reader.metadataNames().map { ExactName($0) }).subtracting(
      CollectionDefinitions.ownNames)
  }

  /// Records the definitions that the target lacks because its engine does not support them;
  /// returns false if it lacks one for another reason.
  private func noteUnsupported(_ collections: [CollectionDescription]) throws -> Bool {
    guard options.skippingUnsupported else { return true }
    return try target.write(nil) { writer in
      for collection in collections.map(\.name) {
        let known = Set(
          try CollectionDefinitions(of: collection, writer).all.map { ExactName($0.name) })
        for definition in try CollectionDefinitions(of: collection, source).all
        where !known.contains(ExactName(definition.name)) {
          guard let error = try refusal(writer, { try definition.make($0, collection) }) else {
            return false
          }
          omit(definition.name, of: collection, error)
        }
        guard let feed = try source.feed(of: collection), try writer.feed(of: collection) == nil
        else { continue }
        guard let error = try refusal(writer, { try $0.setTracking(feed, of: collection) }) else {
          return false
        }
        omit(StoreComparison.feedName, of: collection, error)
      }
      try noteUnsupportedAttachments()
      return true
    }
  }

  private func noteUnsupportedAttachments() throws {
    guard !target.capabilities.contains(.blobs), try !source.blobs(after: 0, limit: 1).isEmpty,
      try BlobMarks(source).digests.contains(where: { try source.blob($0) != nil })
    else { return }
    omit(Self.attachmentsName, of: "", .blobsUnsupported)
  }

  func omit(_ definition: String, of collection: String, _ error: StoreError) {
    omitted.append(
      CopyReport.OmittedDefinition(
        collection: collection, definition: definition, reason: error.message))
  }
}
