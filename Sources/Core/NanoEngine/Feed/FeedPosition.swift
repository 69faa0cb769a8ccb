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
  /// Identifies the history that the position belongs to.
  package let timeline: Int64
  /// The position of the last entry, of which several may have the same; 0 for a document that was not written
  /// since tracking was turned on.
  package let number: Int64
  /// The row ID of the last entry, by which entries with the same number are ordered.
  package let rowID: Int64
  /// The largest pruned position when the reader began, if it is after the position. Deletions up to there do not
  /// concern the reader, which has not seen these documents.
  package let floor: Int64

  package init(timeline: Int64, number: Int64, rowID: Int64, floor: Int64 = 0) {
    self.timeline = timeline
    self.number = number
    self.rowID = rowID
    self.floor = floor > number ? floor : 0
  }

  /// Parses the text of a position; `nil` for any other text.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard (3...4).contains(parts.count), let timeline = Int64(parts[0], radix: 36),
      timeline >= 0, let number = Int64(parts[1]), number >= 0, let rowID = Int64(parts[2]),
      let floor = parts.count == 3 ? 0 : Int64(parts[3])
    else { return nil }
    self.init(timeline: timeline, number: number, rowID: rowID, floor: floor)
    guard self.description == description else { return nil }
  }

  /// The text of the position: printable ASCII without spaces.
  public var description: String {
    "\(String(timeline, radix: 36)).\(number).\(rowID)" + (floor > 0 ? ".\(floor)" : "")
  }

  public static func < (a: FeedPosition, b: FeedPosition) -> Bool {
    (a.timeline, a.number, a.rowID, a.floor) < (b.timeline, b.number, b.rowID, b.floor)
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
