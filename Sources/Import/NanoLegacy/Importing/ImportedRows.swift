// SPDX-License-Identifier: MIT

/// The row IDs of what an import has inserted, as ranges: programs may write to the target between the parts of a
/// resumable import, and on a server during it.
struct ImportedRows: Codable {
  private var ranges: [ClosedRange<Int64>] = []

  func contains(_ rowID: Int64) -> Bool { ranges.contains { $0.contains(rowID) } }

  /// Adds row IDs that the store has assigned.
  mutating func add(_ rowIDs: [Int64]) { for rowID in rowIDs { add(rowID...rowID) } }

  /// Adds a range. One that overlaps or continues the last one extends it.
  mutating func add(_ range: ClosedRange<Int64>) {
    if let last = ranges.last, range.lowerBound >= last.lowerBound,
      range.lowerBound <= last.upperBound.addingReportingOverflow(1).partialValue
    {
      ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    } else {
      ranges.append(range)
    }
  }
}
