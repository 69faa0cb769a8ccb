// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
public import NanoQuery

/// A reusable description of a search, which can be modified and serialized as JSON.
///
/// Unlike a ``DocumentQuery``, it finds values at any depth of a document, as in the original
/// NanoStore: an attribute without a period is found at any depth, a value without an attribute
/// anywhere.
///
/// ```swift
/// var search = Search(attribute: "Rating", match: .equalTo, value: "Good")
/// let documents = try search.documents(in: store["objects"])   // also Countries.France.Rating
/// search.reset()
/// search.value = "Barcelona"
/// try search.count(in: store["objects"])                        // in any attribute
/// ```
///
/// Without criteria it matches every document.
public struct Search: Sendable, Hashable {
  /// The attribute to search: a path component (without a period), found at any depth, or a full
  /// path.
  public var attribute: String?
  /// The value to search for: a string, a number, a date, null, or an array of alternatives.
  ///
  /// A string that reads as a number also matches that number; with greater than and less than, it
  /// is compared only with numbers.
  public var value: DocumentValue?
  /// How the value, attribute or key is compared.
  public var match: Match
  /// The key to search for. It is compared with ``match`` if it is the only criterion, otherwise
  /// for equality.
  public var key: String?
  /// Expressions that must all be satisfied, each by its own leaf. If there are any, attribute,
  /// value, key and match are ignored.
  public var expressions: [SearchExpression]
  /// The class name of the documents; nil for any.
  public var type: String?
  /// The time at which documents were added: before, on or after an instant or a day.
  public var added: AddedDateMatch?
  /// The maximum number of results, counted after sorting; nil or 0 for no limit.
  public var limit: Int?
  /// The number of results to skip, counted after sorting.
  public var offset: Int
  /// The sort order, most significant first.
  public var orderings: [SearchOrdering]
  /// Whether to return only one document for each distinct matching value.
  public var groupsValues: Bool
  /// The fields to read of each document; empty for all.
  public var fields: [String]

  /// Creates a search. Without arguments it matches every document.
  public init(
    attribute: String? = nil, match: Match = .contains, value: DocumentValue? = nil,
    key: String? = nil, expressions: [SearchExpression] = [], type: String? = nil,
    added: AddedDateMatch? = nil, limit: Int? = nil, offset: Int = 0,
    orderings: [SearchOrdering] = [], groupsValues: Bool = false, fields: [String] = []
  ) {
    self.attribute = attribute
    self.match = match
    self.value = value
    self.key = key
    self.expressions = expressions
    self.type = type
    self.added = added
    self.limit = limit
    self.offset = offset
    self.orderings = orderings
    self.groupsValues = groupsValues
    self.fields = fields
  }

  /// Removes all criteria.
  public mutating func reset() { self = Search() }
}

/// Predicates on a single leaf of a document, combined with and and or. And has the higher
/// precedence.
///
/// ```swift
/// SearchExpression(.attribute(.equalTo, "FirstName")).and(.value(.equalTo, "Tito"))
/// ```
public struct SearchExpression: Sendable, Hashable, Codable {
  /// A predicate with the operator that joins it to the preceding one.
  public struct Link: Sendable, Hashable, Codable {
    /// The operator that precedes the predicate.
    public var `operator`: Operator
    /// The predicate.
    public var predicate: SearchPredicate

    /// Creates a link.
    public init(_ operator: Operator, _ predicate: SearchPredicate) {
      self.operator = `operator`
      self.predicate = predicate
    }
  }
  /// A logical operator between predicates.
  public enum Operator: String, Sendable, Hashable, Codable {
    /// Logical and, with the higher precedence.
    case and
    /// Logical or.
    case or
  }

  /// The first predicate.
  public var first: SearchPredicate
  /// The other predicates, in order, with their operators.
  public var links: [Link]

  /// Creates an expression from a single predicate.
  public init(_ predicate: SearchPredicate) {
    first = predicate
    links = []
  }

  /// Returns the expression with a predicate appended by a logical and.
  public func and(_ predicate: SearchPredicate) -> SearchExpression { adding(.and, predicate) }
  /// Returns the expression with a predicate appended by a logical or.
  public func or(_ predicate: SearchPredicate) -> SearchExpression { adding(.or, predicate) }

  private func adding(_ link: Operator, _ predicate: SearchPredicate) -> SearchExpression {
    var copy = self
    copy.links.append(Link(link, predicate))
    return copy
  }

  /// All predicates of the expression, in order.
  public var predicates: [SearchPredicate] { [first] + links.map(\.predicate) }
}

/// A condition on a document's key, or on the path or value of a leaf.
public enum SearchPredicate: Sendable, Hashable {
  /// A condition on the key of the document.
  case key(Match, String)
  /// A condition on the full path of the leaf.
  case attribute(Match, String)
  /// A condition on the value of the leaf; see ``Search/value``.
  case value(Match, DocumentValue)
}

extension SearchPredicate: Codable {
  private enum CodingKeys: CodingKey { case column, match, value }
  private enum Column: String, Codable { case key, attribute, value }

  /// Encodes an object with the members `column` (`"key"`, `"attribute"` or `"value"`), `match` and
  /// `value`.
  public func encode(to encoder: any Encoder) throws {
    let (column, match, value): (Column, Match, DocumentValue) =
      switch self {
      case .key(let match, let key): (.key, match, .string(key))
      case .attribute(let match, let path): (.attribute, match, .string(path))
      case .value(let match, let value): (.value, match, value)
      }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(column, forKey: .column)
    try container.encode(match, forKey: .match)
    try container.encode(value, forKey: .value)
  }

  /// Decodes a predicate.
  ///
  /// - Throws: `DecodingError`, also for a condition on a key or an attribute whose value is not a
  ///   string.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let match = try container.decode(Match.self, forKey: .match)
    switch try container.decode(Column.self, forKey: .column) {
    case .key: self = .key(match, try container.decode(String.self, forKey: .value))
    case .attribute: self = .attribute(match, try container.decode(String.self, forKey: .value))
    case .value: self = .value(match, try container.decode(DocumentValue.self, forKey: .value))
    }
  }
}

/// A sort order of a search: a path and a direction.
public struct SearchOrdering: Sendable, Hashable, Codable {
  /// The path of the field.
  public var attribute: String
  /// Whether the order is ascending.
  public var ascending: Bool

  /// Creates a sort order.
  ///
  /// - Throws: ``StoreError/Code/invalidPath`` for an attribute that is not a path.
  public init(_ attribute: String, ascending: Bool = true) throws(StoreError) {
    try FieldPath(attribute).validate()
    self.attribute = attribute
    self.ascending = ascending
  }
}

/// A condition on the time at which a document was added.
public struct AddedDateMatch: Sendable, Hashable, Codable {
  /// How the time is compared with the date.
  public enum Relation: String, Sendable, Hashable, Codable {
    /// Before the date.
    case before
    /// On the day, or in the millisecond, of the date.
    case on
    /// After the day, or the millisecond, of the date.
    case after
  }
  /// How the time is compared with the date.
  public var relation: Relation
  /// The date to compare with.
  public var date: Date
  /// The offset from UTC, in seconds, of the time zone whose calendar day is compared; nil to
  /// compare the instant.
  public var dayOffset: Int?
  /// The day of the date, if the offset of the time zone changes in it or at its ends.
  private var irregularDay: IrregularDay?

  /// A day that is not 24 hours from midnight to midnight with the same offset.
  private struct IrregularDay: Sendable, Hashable, Codable {
    /// The offset at the date.
    var offset: Int
    /// In seconds since 1970, like the end.
    var start: Double
    var end: Double
  }

  /// Creates a condition on the time at which a document was added.
  ///
  /// - Parameters:
  ///   - relation: How the time is compared with the date.
  ///   - date: The date to compare with.
  ///   - day: The time zone in which the whole day of the date is compared; nil to compare the
  ///     instant, with millisecond precision.
  public init(_ relation: Relation, _ date: Date, day: TimeZone? = nil) {
    self.relation = relation
    self.date = date
    guard let day else { return }
    let offset = day.secondsFromGMT(for: date)
    dayOffset = offset
    let regular = regularDay(offset)
    let start = Self.firstInstant(ofDay: regular.start + Double(offset), day)
    let end = Self.firstInstant(ofDay: regular.end + Double(offset), day)
    if start != regular.start || end != regular.end {
      irregularDay = IrregularDay(offset: offset, start: start, end: end)
    }
  }

  /// Returns the first instant of a day in a time zone, in seconds since 1970.
  ///
  /// - Parameter midnight: The beginning of the day in local time, in seconds since 1970.
  private static func firstInstant(ofDay midnight: Double, _ zone: TimeZone) -> Double {
    func offset(at seconds: Double) -> Double {
      Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)))
    }
    // The offset at midnight is that of an instant within a day, before or after it. Local midnight may not exist, or
    // occur twice, so it is the first instant with one of these offsets that is not on the day before.
    let offsets = [midnight - 86_400, midnight, midnight + 86_400].map(offset(at:))
    let instants = offsets.map { midnight - $0 }
    return instants.filter { $0 + offset(at: $0) >= midnight }.min() ?? instants[1]
  }

  /// The equivalent query condition.
  var condition: Condition {
    let (start, end) = span
    let added = QueryExpression.attribute(.added)
    let (low, high) = (QueryExpression.value(.date(start)), QueryExpression.value(.date(end)))
    switch relation {
    case .before: return .comparison(added, .less, low)
    case .on:
      return .all([.comparison(added, .greaterOrEqual, low), .comparison(added, .less, high)])
    case .after: return .comparison(added, .greaterOrEqual, high)
    }
  }

  /// The day or the millisecond that contains the date.
  private var span: (start: Date, end: Date) {
    let seconds = date.timeIntervalSince1970
    guard let dayOffset else {
      // In microseconds, like the stored time: binary fractions of a second are not exact.
      let start = ((seconds * 1e6).rounded() / 1_000).rounded(.down) * 1_000
      guard start.magnitude < 0x1p62 else { return (date, date) }
      return (
        Date(microsecondsSince1970: Int64(start)), Date(microsecondsSince1970: Int64(start) + 1_000)
      )
    }
    var day = regularDay(dayOffset)
    // The date and the offset may have been changed.
    if let irregularDay, irregularDay.offset == dayOffset,
      irregularDay.start <= seconds, seconds < irregularDay.end
    {
      day = (irregularDay.start, irregularDay.end)
    }
    return (Date(timeIntervalSince1970: day.start), Date(timeIntervalSince1970: day.end))
  }

  /// The day that contains the date, in seconds since 1970, if the time zone always has this offset.
  private func regularDay(_ offset: Int) -> (start: Double, end: Double) {
    let (shift, length) = (Double(offset), 86_400.0)
    let start = ((date.timeIntervalSince1970 + shift) / length).rounded(.down) * length - shift
    return (start, start + length)
  }
}

extension Search: Codable {
  /// The search as JSON, with its keys in order.
  public var json: String {
    let object = try? DocumentObject(encoding: self)
    return (object ?? [:]).jsonString(pretty: true)
  }

  /// Creates a search from JSON.
  ///
  /// - Throws: ``StoreError/Code/invalidJSON``, `DecodingError`.
  public init(json: String) throws { self = try DocumentObject(json: json).decoded() }
}

extension Match: Codable {
  /// A display name of the match, in English.
  public var words: String {
    switch self {
    case .equalTo: "Equal to"
    case .beginsWith: "Begins with"
    case .contains: "Contains"
    case .endsWith: "Ends with"
    case .insensitiveEqualTo: "Equal to (case insensitive)"
    case .insensitiveBeginsWith: "Begins with (case insensitive)"
    case .insensitiveContains: "Contains (case insensitive)"
    case .insensitiveEndsWith: "Ends with (case insensitive)"
    case .greaterThan: "Greater than"
    case .lessThan: "Less than"
    case .notEqualTo: "Not equal to"
    }
  }
}
