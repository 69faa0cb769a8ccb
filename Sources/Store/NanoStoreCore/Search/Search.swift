// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
public import NanoQuery

/// A description of what to look for that can be kept, changed, written down as JSON and used again.
///
/// Unlike a ``DocumentQuery`` it looks for values wherever they stand in a document, as those who
/// come from NanoStore know it: an attribute without a period is found at any depth, a value without
/// an attribute anywhere.
///
/// ```swift
/// var search = Search(attribute: "Rating", match: .equalTo, value: "Good")
/// let documents = try search.documents(in: store["objects"])   // also Countries.France.Rating
/// search.reset()
/// search.value = "Barcelona"
/// try search.count(in: store["objects"])                        // in any attribute
/// ```
///
/// Without criteria it finds everything.
public struct Search: Sendable, Hashable {
  /// A component of a path (no period), found at any depth, or a whole path.
  public var attribute: String?
  /// A text, a number, a date, null, or a list of which any is to be found. A text that reads as a
  /// number finds that number too; greater and less than it are numbers only.
  public var value: DocumentValue?
  public var match: Match
  /// A key: matched if it is the only criterion, equal beside others.
  public var key: String?
  /// All of them must hold, each on a leaf of its own. If there are any, attribute, value, key and
  /// match do not count.
  public var expressions: [SearchExpression]
  /// Only documents stored as this class.
  public var type: String?
  /// Only documents added before, on or after a moment or day.
  public var added: AddedDateMatch?
  /// How many at most, counted after sorting; nil or 0 for all.
  public var limit: Int?
  public var offset: Int
  public var orderings: [SearchOrdering]
  /// One document for each distinct value among those that match.
  public var groupsValues: Bool
  /// Only these fields of each document; all if empty.
  public var fields: [String]

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

  /// Forgets every criterion.
  public mutating func reset() { self = Search() }
}

/// Predicates on one leaf of a document, joined by and and or; and binds tighter.
///
/// ```swift
/// SearchExpression(.attribute(.equalTo, "FirstName")).and(.value(.equalTo, "Tito"))
/// ```
public struct SearchExpression: Sendable, Hashable, Codable {
  public struct Link: Sendable, Hashable, Codable {
    public var `operator`: Operator
    public var predicate: SearchPredicate
  }
  public enum Operator: String, Sendable, Hashable, Codable { case and, or }

  public var first: SearchPredicate
  public var links: [Link]

  public init(_ predicate: SearchPredicate) {
    first = predicate
    links = []
  }

  public func and(_ predicate: SearchPredicate) -> SearchExpression { adding(.and, predicate) }
  public func or(_ predicate: SearchPredicate) -> SearchExpression { adding(.or, predicate) }

  private func adding(_ link: Operator, _ predicate: SearchPredicate) -> SearchExpression {
    var copy = self
    copy.links.append(Link(operator: link, predicate: predicate))
    return copy
  }

  public var predicates: [SearchPredicate] { [first] + links.map(\.predicate) }
}

/// A condition on the key of a document, or on the path or value of one of its leaves.
public struct SearchPredicate: Sendable, Hashable, Codable {
  public enum Column: String, Sendable, Hashable, Codable { case key, attribute, value }
  public var column: Column
  public var match: Match
  public var value: DocumentValue

  public init(_ column: Column, _ match: Match, _ value: DocumentValue) {
    self.column = column
    self.match = match
    self.value = value
  }
  public static func key(_ match: Match, _ key: String) -> SearchPredicate {
    SearchPredicate(.key, match, .string(key))
  }
  /// The whole path of the leaf.
  public static func attribute(_ match: Match, _ path: String) -> SearchPredicate {
    SearchPredicate(.attribute, match, .string(path))
  }
  public static func value(_ match: Match, _ value: DocumentValue) -> SearchPredicate {
    SearchPredicate(.value, match, value)
  }
}

/// By what a search sorts: a path and a direction.
public struct SearchOrdering: Sendable, Hashable, Codable {
  public var attribute: String
  public var ascending: Bool

  /// - Throws: ``StoreError/Code/invalidPath`` for an attribute that is not a path.
  public init(_ attribute: String, ascending: Bool = true) throws(StoreError) {
    try FieldPath(attribute).validate()
    self.attribute = attribute
    self.ascending = ascending
  }
}

/// When a document was added.
public struct AddedDateMatch: Sendable, Hashable, Codable {
  public enum Relation: String, Sendable, Hashable, Codable { case before, on, after }
  public var relation: Relation
  public var date: Date
  /// The time zone whose day is meant, in seconds from UTC; nil if the instant is meant.
  public var dayOffset: Int?

  /// - Parameter day: The time zone in which the whole day of the date is meant; nil for the instant
  ///   to the millisecond.
  public init(_ relation: Relation, _ date: Date, day: TimeZone? = nil) {
    self.relation = relation
    self.date = date
    dayOffset = day?.secondsFromGMT(for: date)
  }

  /// The condition that says so.
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

  /// The day, or the millisecond, that the date falls into.
  private var span: (start: Date, end: Date) {
    let length = dayOffset == nil ? 0.001 : 86_400
    let shift = Double(dayOffset ?? 0)
    let start = ((date.timeIntervalSince1970 + shift) / length).rounded(.down) * length - shift
    return (Date(timeIntervalSince1970: start), Date(timeIntervalSince1970: start + length))
  }
}

extension Search: Codable {
  /// What the search looks for, as JSON with its keys in order.
  public var json: String {
    let object = try? DocumentObject(encoding: self)
    return (object ?? [:]).jsonString(pretty: true)
  }

  /// - Throws: ``StoreError/Code/invalidJSON``, `DecodingError`.
  public init(json: String) throws { self = try DocumentObject(json: json).decoded() }
}

extension Match: Codable {
  /// The match in words, for people.
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
