// SPDX-License-Identifier: MIT

/// A position in the change feed of a collection, from which a reader continues, also after a restart.
///
/// It is opaque: save its text, and pass it to ``DocumentCollection/changes(since:limit:matching:withDocuments:)``.
///
/// ```swift
/// try String(describing: position).write(toFile: "films.position", atomically: true, encoding: .utf8)
/// let position = FeedPosition(saved)      // nil if the text is not a position
/// ```
///
/// Positions of one feed are ordered as its entries. The order of positions of different feeds is arbitrary.
public struct FeedPosition: Sendable, Hashable, Comparable, LosslessStringConvertible, Codable {
  /// Identifies the feed that the position belongs to.
  package let timeline: Int64
  package let cursor: FeedCursor
  /// The largest pruned number when the reader began, unless the position is after it. Deletions with numbers up to it
  /// do not concern the reader, which has not seen these documents.
  package let floor: Int64

  package init(timeline: Int64, cursor: FeedCursor, floor: Int64 = 0) {
    self.timeline = timeline
    self.cursor = cursor
    self.floor = floor >= cursor.number ? floor : 0
  }

  /// Parses the text of a position; `nil` for any other text.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.dropFirst().compactMap { Int64($0) }
    guard [3, 4, 6].contains(parts.count), numbers.count == parts.count - 1,
      let timeline = Int64(parts[0], radix: 36), timeline >= 0, numbers[0] >= 0
    else { return nil }
    self.init(
      timeline: timeline,
      cursor: FeedCursor(
        number: numbers[0], rowID: numbers[1],
        unnumbered: numbers.count == 5 ? .init(count: numbers[3], rowID: numbers[4]) : nil),
      floor: numbers.count > 2 ? numbers[2] : 0)
    guard self.description == description else { return nil }
  }

  /// The text of the position: printable ASCII without spaces.
  public var description: String {
    let start = "\(String(timeline, radix: 36)).\(cursor.number).\(cursor.rowID)"
    if let unnumbered = cursor.unnumbered {
      return start + ".\(floor).\(unnumbered.count).\(unnumbered.rowID)"
    }
    return floor > 0 ? start + ".\(floor)" : start
  }

  public static func < (a: FeedPosition, b: FeedPosition) -> Bool {
    (a.timeline, a.cursor, a.floor) < (b.timeline, b.cursor, b.floor)
  }

  /// Decodes the text of a position.
  ///
  /// - Throws: `DecodingError` for any other value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let position = FeedPosition(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "Not the text of a feed position")
    }
    self = position
  }

  /// Encodes the text of the position.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
