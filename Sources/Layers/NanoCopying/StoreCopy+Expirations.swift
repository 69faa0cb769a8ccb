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
    try source.eachRowIDs(in: collection) { try writeExpirations(of: $0, in: collection, writer) }
  }

  private func writeExpirations(
    of rowIDs: [Int64], in collection: String, _ writer: any EngineWriter
  ) throws {
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
    // Collected first: the scan could meet what is changed.
    var pages: [[Int64]] = []
    try writer.eachRowIDs(in: collection) { pages.append($0) }
    for page in pages {
      let times = try writer.expirations(ofRows: page, in: collection)
      try writer.setExpirations(times.keys.map { ($0, nil) }, in: collection)
    }
  }
}
