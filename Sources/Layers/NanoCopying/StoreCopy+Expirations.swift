// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension StoreCopy {
  /// Copies when documents expire. A rule, which is among the settings, has set the expirations of the copied documents
  /// as if they were written now.
  func copyExpirations(of collection: String, _ writer: any EngineWriter) throws {
    guard try source.expiringCollections().contains(where: { $0.folded == collection.folded })
    else {
      return
    }
    var query = Query()
    query.fields = []
    var rowIDs: [Int64] = []
    try source.find(query, in: collection) { document in
      rowIDs.append(document.rowID)
      if rowIDs.count == Self.expirationsPerStep {
        try writeExpirations(of: rowIDs, in: collection, writer)
        rowIDs.removeAll(keepingCapacity: true)
      }
      return true
    }
    try writeExpirations(of: rowIDs, in: collection, writer)
  }

  private func writeExpirations(
    of rowIDs: [Int64], in collection: String, _ writer: any EngineWriter
  ) throws {
    guard !rowIDs.isEmpty else { return }
    let times = try source.expirations(ofRows: rowIDs, in: collection)
    do {
      try writer.setExpirations(rowIDs.map { ($0, times[$0]) }, in: collection)
    } catch let error as StoreError {
      throw error.adding(.collection, collection)
    }
  }

  /// Removes the expirations of documents that an earlier call copied; they are copied again at the end.
  func removeExpirations(of collection: String, _ writer: any EngineWriter) throws {
    guard try writer.expiringCollections().contains(where: { $0.folded == collection.folded })
    else {
      return
    }
    var query = Query()
    query.fields = []
    var rowIDs: [Int64] = []
    try writer.find(query, in: collection) { document in
      rowIDs.append(document.rowID)
      return true
    }
    for start in stride(from: 0, to: rowIDs.count, by: Self.expirationsPerStep) {
      let step = rowIDs[start..<min(start + Self.expirationsPerStep, rowIDs.count)]
      let times = try writer.expirations(ofRows: Array(step), in: collection)
      try writer.setExpirations(times.keys.map { ($0, nil) }, in: collection)
    }
  }

  /// Arbitrary.
  private static let expirationsPerStep = 1_000
}
