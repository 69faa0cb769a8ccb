// SPDX-License-Identifier: MIT

import NanoStoreCore
import NanoSync

/// Parts of a body (RFC 9110, section 14).
enum ByteRanges {
  /// The number of ranges beyond which the whole is sent: overlapping ones could multiply it. Arbitrary.
  private static let maximumRanges = 10

  /// Interprets the header `Range`; nil if the whole is sent.
  ///
  /// - Throws: ``ProtocolError`` with status 416 if a range begins beyond the end or is reversed.
  static func ranges(_ header: String?, of length: Int) throws(ProtocolError) -> [Range<Int>]? {
    guard let header = header?.trimmingSpaces, header.lowercased().hasPrefix("bytes=") else {
      return nil
    }
    var ranges: [Range<Int>] = []
    for part in header.dropFirst(6).split(separator: ",") {
      let sides = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        .map { String($0).trimmingSpaces }
      guard sides.count == 2 else { return nil }
      let range: Range<Int>
      switch (Int(sides[0]), Int(sides[1])) {
      case (let first?, let last?):
        guard first <= last, first < length else { throw unsatisfiable }
        range = first..<min(last, length - 1) + 1
      case (let first?, nil):
        guard sides[1].isEmpty else { return nil }
        guard first < length else { throw unsatisfiable }
        range = first..<length
      case (nil, let count?):
        guard sides[0].isEmpty else { return nil }
        guard count > 0, length > 0 else { throw unsatisfiable }
        range = max(0, length - count)..<length
      case (nil, nil): return nil
      }
      ranges.append(range)
    }
    return ranges.isEmpty || ranges.count > maximumRanges ? nil : ranges
  }

  private static let unsatisfiable = ProtocolError(
    416, "requested_range_not_satisfiable", "Requested range not satisfiable")

  static func header(_ range: Range<Int>, of length: Int) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  /// The number of bytes that are read at a time. Arbitrary.
  static let pieceLength = 1 << 20

  static func write(
    _ range: Range<Int>, of content: Attachment, in store: Store,
    _ write: SyncResponse.Stream.Write
  ) async throws {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: pieceLength) {
      let piece = start..<min(start + pieceLength, range.upperBound)
      try await write(Array(try await store.data(of: content, in: piece)))
    }
  }
}
