// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

// The documents of one collection.
extension StoreCopy {
  func copyDocuments(of collection: String) throws {
    progress.collection = collection
    leftOut = try expiredMembers(in: collection)
    progress.total -= leftOut.count
    var last: Int64?
    if isContinued { last = try repair(collection) }
    let isWhole = last == nil
    var checksum = DocumentChecksum()
    last = try insert(Query(after: last.map { .row($0) }), into: collection, &checksum) ?? last
    // If documents were already present, they were not read here, and verification reads all of
    // them.
    if isWhole { checksums[ExactName(collection)] = checksum }
    try reserveRowIDs(of: collection, after: last ?? 0)
  }

  private func expiredMembers(in collection: String) throws -> Set<Int64> {
    guard ExpiredMembers.areIn(collection) else { return [] }
    let expiring = Set(try source.expiringCollections().map(\.folded))
    return try ExpiredMembers(collections: expiring, reader: source).rowIDs(at: now())
  }

  /// Copies the results of a query on the source in batches, and returns the last row ID.
  private func insert(
    _ query: Query, into collection: String, _ checksum: inout DocumentChecksum
  ) throws -> Int64? {
    var batch = CopyBatch()
    var last: Int64?
    try source.find(query, in: collection) { document in
      guard !leftOut.contains(document.rowID) else { return true }
      try Self.inStoredForm(document, of: collection) { document in
        try checksum.add(document)
        batch.add(document)
      }
      last = document.rowID
      if batch.count >= options.batchDocuments || batch.byteCount >= options.batchBytes {
        try write(&batch, into: collection)
      }
      return true
    }
    try write(&batch, into: collection)
    return last
  }

  /// Passes a document in stored form, as it is in the copy, even if another program wrote it in a
  /// different form.
  private static func inStoredForm(
    _ document: StoredDocument, of collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    do {
      try document.inStoredForm(show)
    } catch let error as StoreError where error.code == .corruptDocument {
      throw error.adding(.collection, collection)
        .adding(.hint, "repair or delete it, and copy again")
    }
  }

  private func write(_ batch: inout CopyBatch, into collection: String) throws {
    guard batch.count > 0 else { return }
    checkpoint.collection = collection
    checkpoint.rowID = batch.lastRowID
    do {
      try target.write(nil) { writer in
        try batch.write(into: collection, writer)
        try writer.setMetadata(checkpoint.value, CopyCheckpoint.name)
      }
    } catch let error as StoreError {
      if let rowID = batch.undecodable {
        throw StoreError(
          .corruptDocument, "A document of the source does not decode",
          [
            .collection: collection, .rowID: "\(rowID)",
            .hint: "repair or delete it, and copy again",
          ])
      }
      throw error.adding(.collection, collection)
    }
    copied[ExactName(collection), default: 0] += batch.count
    progress.documents += batch.count
    batch.removeAll()
    try reportProgress()
  }

  /// Prevents the target from reusing row IDs that the source assigned to documents since deleted.
  private func reserveRowIDs(of collection: String, after last: Int64) throws {
    guard let highest = try source.highestRowID(in: collection), highest > last else { return }
    try target.write(nil) { writer in
      guard try writer.nextRowID(in: collection) <= highest else { return }
      // Engines never reuse the row IDs of rows that existed.
      let empty: StaticString = "{}"
      _ = try writer.insert(
        NewDocument(
          key: nil, added: 0, rowID: highest,
          body: UnsafeRawBufferPointer(start: empty.utf8Start, count: empty.utf8CodeUnitCount)),
        into: collection)
      _ = try writer.delete(.rowID(highest), from: collection)
    }
  }
}

// Resuming an earlier copy.
extension StoreCopy {
  /// The number of rows compared at once. Arbitrary: differing ranges of this size are replaced as
  /// a whole.
  private static let rangeLength = 1_000

  /// Makes the target's existing documents equal to the source's, and returns the row ID of the
  /// last one; nil if the target has none.
  ///
  /// All differing ranges are deleted before anything is inserted: a key may belong to a different
  /// row by now. What remains in between is a subset of the source, so that keys and unique values
  /// cannot collide.
  private func repair(_ collection: String) throws -> Int64? {
    let (ranges, last) = try differingRanges(of: collection)
    for range in ranges {
      try target.write(nil) { writer in
        _ = try writer.delete(Query(.rows(range)), from: collection)
      }
    }
    var unused = DocumentChecksum()
    for range in ranges { _ = try insert(Query(.rows(range)), into: collection, &unused) }
    return last
  }

  private func differingRanges(
    of collection: String
  ) throws -> (ranges: [ClosedRange<Int64>], last: Int64?) {
    try target.read(.snapshot, nil) { target in
      var ranges: [ClosedRange<Int64>] = []
      var last: Int64?
      while true {
        var found = DocumentChecksum()
        let start = last.map { $0 + 1 } ?? .min
        try target.find(
          Query(limit: Self.rangeLength, after: last.map { .row($0) }), in: collection
        ) { document in
          try found.add(document)
          last = document.rowID
          return true
        }
        guard found.documents > 0, let end = last else { return (ranges, last) }
        if try checksum(of: start...end, in: collection) == found {
          progress.documents += found.documents
          try reportProgress()
        } else {
          ranges.append(start...end)
        }
        if end == .max { return (ranges, last) }
      }
    }
  }

  private func checksum(
    of range: ClosedRange<Int64>, in collection: String
  ) throws -> DocumentChecksum {
    var checksum = DocumentChecksum()
    try source.find(Query(.rows(range)), in: collection) { document in
      if !leftOut.contains(document.rowID) { try checksum.add(document) }
      return true
    }
    return checksum
  }
}

extension PagePosition {
  /// The position after this row, in the order of row IDs.
  fileprivate static func row(_ rowID: Int64) -> PagePosition {
    PagePosition(values: [], rowID: rowID)
  }
}

extension Condition {
  fileprivate static func rows(_ range: ClosedRange<Int64>) -> Condition {
    .all([
      .comparison(.attribute(.rowID), .greaterOrEqual, .value(.int(range.lowerBound))),
      .comparison(.attribute(.rowID), .lessOrEqual, .value(.int(range.upperBound))),
    ])
  }
}
