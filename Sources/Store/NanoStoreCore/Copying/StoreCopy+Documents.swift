// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The documents of one collection.
extension StoreCopy {
  func copyDocuments(of collection: String) throws {
    progress.collection = collection
    var last: Int64?
    if isContinued { last = try mend(collection) }
    let isWhole = last == nil
    var checksum = DocumentChecksum()
    last = try insert(Query(after: last.map { .row($0) }), into: collection, &checksum) ?? last
    // Read anew, if what is there already was not read here.
    if isWhole { checksums[ExactName(collection)] = checksum }
    try reserveRowIDs(of: collection, after: last ?? 0)
  }

  /// Copies what a query finds in the source, in batches, and gives the last row id.
  private func insert(
    _ query: Query, into collection: String, _ checksum: inout DocumentChecksum
  ) throws -> Int64? {
    var batch = CopyBatch()
    var last: Int64?
    try source.find(query, in: collection) { document in
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

  /// A document as it is in the copy. What another program wrote is copied in stored form.
  private static func inStoredForm(
    _ document: StoredDocument, of collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    do {
      try document.inStoredForm(show)
    } catch let error as StoreError where error.code == .corruptDocument {
      throw error.adding(.collection, collection)
        .adding(.hint, "mend or remove it, and copy again")
    }
  }

  private func write(_ batch: inout CopyBatch, into collection: String) throws {
    guard batch.count > 0 else { return }
    mark.collection = collection
    mark.rowID = batch.lastRowID
    do {
      try target.write(nil) { writer in
        try batch.write(into: collection, writer)
        try writer.setMetadata(mark.value, CopyCheckpoint.name)
      }
    } catch let error as StoreError {
      if let rowID = batch.undecodable {
        throw StoreError(
          .corruptDocument, "A document of the source does not decode",
          [
            .collection: collection, .rowID: "\(rowID)",
            .hint: "mend or remove it, and copy again",
          ])
      }
      throw error.adding(.collection, collection)
    }
    copied[ExactName(collection), default: 0] += batch.count
    progress.documents += batch.count
    batch.removeAll()
    try tell()
  }

  /// The target gives none of the row ids that the source gave to documents that are gone.
  private func reserveRowIDs(of collection: String, after last: Int64) throws {
    guard let highest = try source.highestRowID(in: collection), highest > last else { return }
    try target.write(nil) { writer in
      guard try writer.nextRowID(in: collection) <= highest else { return }
      // Engines remember the ids of rows that were there.
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

/// What an earlier copy left.
extension StoreCopy {
  /// Rows that are compared at once. Arbitrary: what differs is replaced in such pieces.
  private static let rangeLength = 1_000

  /// Makes the target's documents those of the source, up to the last one that it has, whose row id is given;
  /// nil if it has none.
  ///
  /// All that differs is removed before anything is inserted: a key may have come to another row meanwhile.
  /// What is left in between is a part of the source, so that keys and unique values cannot collide.
  private func mend(_ collection: String) throws -> Int64? {
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
          try tell()
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
      try checksum.add(document)
      return true
    }
    return checksum
  }
}

extension PagePosition {
  /// Behind this row, in the order of row ids.
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
