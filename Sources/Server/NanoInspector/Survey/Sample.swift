// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoStoreCore

/// Documents that stand for all that match a query.
///
/// A small collection is read whole. Of a larger one, short runs of documents at even distances are read, because
/// neighbors share pages of the file. With a condition, the first matches are read. Documents are visited one by one,
/// so that large ones need little memory.
struct Sample {
  /// How the documents were chosen.
  let kind: Kind
  /// The number of documents.
  let count: Int

  enum Kind: String { case all, spread, first }

  /// The default number of documents; arbitrary: examining them takes some 50 ms.
  static let size = 2_000
  private static let runs = 40

  /// Reads a sample; call it in a read block, so that it is that of one snapshot.
  init(
    of query: DocumentQuery, size: Int = Sample.size, _ visit: (Document) throws -> Void
  ) throws {
    var count = 0
    func counted(_ document: Document) throws {
      count += 1
      try visit(document)
    }
    let query = query.sorted(by: [])
    let isWhole = query.query.condition == .constant(true) && query.query.limit == nil
    if isWhole, try query.collection.count() > size, let rows = try RowRange(query.collection) {
      kind = .spread
      var last = Int64.min
      for row in rows.evenly(Self.runs) {
        // After the document before it. Runs do not overlap.
        let start = max(row == .min ? row : row - 1, last)
        try query.after(PagePosition(values: [], rowID: start)).limit(size / Self.runs).each {
          last = $0.rowID ?? last
          try counted($0)
        }
      }
    } else {
      let limit = min(query.query.limit ?? .max, size + 1)
      try query.limit(limit).each { if count < size { try counted($0) } else { count += 1 } }
      kind = count > size ? .first : .all
      count = min(count, size)
    }
    self.count = count
  }
}

/// The row IDs of a collection, from the smallest to the largest.
struct RowRange {
  let first: Int64
  let last: Int64

  /// Nil if the collection is empty.
  init?(_ collection: DocumentCollection) throws {
    let order = { (order: SortOrder) in [Ordering(.attribute(.rowID), order: order)] }
    guard
      let first = try collection.find().sorted(by: order(.forward)).select([]).first()?.rowID,
      let last = try collection.find().sorted(by: order(.reverse)).select([]).first()?.rowID
    else { return nil }
    self.first = first
    self.last = last
  }

  /// Returns row IDs at even distances, which documents need not have.
  func evenly(_ count: Int) -> [Int64] {
    let width = Double(last) - Double(first)
    return (0..<count).map { number in
      let offset = (width * Double(number) / Double(count)).rounded()
      return Int64(exactly: Double(first) + offset) ?? first
    }
  }
}
