// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// One end of a join.
private struct JoinEnd {
  enum Column {
    case key, rowID
    case field(PostgresFieldExpression)
  }
  enum Class { case text, number, date, boolean }
  var column: Column
  var type: Class
  var table: String
  var isIndexed: Bool

  /// Returns `nil` for an expression whose values the server does not compare exactly, or of which a document has
  /// several.
  init?(_ expression: QueryExpression, in table: String, _ metadata: PostgresCollectionMetadata) {
    self.table = table
    switch expression {
    case .attribute(.key): (column, type, isIndexed) = (.key, .text, true)
    case .attribute(.rowID): (column, type, isIndexed) = (.rowID, .number, true)
    case .field(let path):
      guard metadata.collection.defaults?.reaches(path) != true,
        let single = metadata.single(path), let type = Self.type(single.types),
        let place = PostgresFieldExpression(path, metadata.names, body: "\(table).body")
      else { return nil }
      (column, self.type, isIndexed) = (.field(place), type, metadata.isIndexed(path))
    default: return nil
    }
  }

  private static func type(_ types: ObservedTypes) -> Class? {
    let values = types.subtracting(.null)
    if values.isEmpty { return nil }
    if values.isSubset(of: [.int, .double]) { return .number }
    switch values {
    case .string: return .text
    case .date: return .date
    case .bool: return .boolean
    default: return nil
    }
  }

  /// The value, which equals that of another end of the same class exactly if the values are equal. SQL NULL, or one
  /// that ``isValue`` excludes, if there is none.
  var value: String {
    switch column {
    case .key: "(\(table).key COLLATE \"C\")"
    case .rowID: "\(table).id::numeric"
    case .field(let place):
      type == .text ? place.string : type == .number ? place.number : place.text
    }
  }

  /// The condition that the document has a value.
  var isValue: String {
    switch (column, type) {
    case (.key, _): "\(table).key IS NOT NULL"
    case (.rowID, _): "true"
    case (.field(let place), .text): "\(place.string) IS NOT NULL"
    case (.field(let place), .number): "\(place.number) > '-Infinity'"
    case (.field(let place), _): "\(place.text) <> ''"
    }
  }

  /// The condition that the value equals that of another end, with what the indexes of both contain.
  func equals(_ other: JoinEnd) -> String {
    switch (column, other.column) {
    case (.key, .key): return "\(table).key = \(other.table).key"
    case (.rowID, .rowID): return "\(table).id = \(other.table).id"
    case (.field, .key), (.field, .rowID): return other.equals(self)
    // Of different classes, and never compared.
    case (.key, .rowID), (.rowID, .key): return "false"
    case (.key, .field(let place)):
      let equal = "\(table).key = \(place.string)"
      guard other.isIndexed else { return equal }
      return equal + " AND \(place.number) = 'Infinity' AND \(place.text) = "
        + "('t' || left(\(table).key, \(PostgresSchema.indexedText))) COLLATE \"C\""
    case (.rowID, .field(let place)):
      // A number that is not a row ID becomes NULL.
      let integer =
        "CASE WHEN \(place.number) = trunc(\(place.number)) AND \(place.number) "
        + "BETWEEN -9223372036854775808 AND 9223372036854775807 THEN \(place.number)::bigint END"
      let equal = "\(table).id = (\(integer))"
      return other.isIndexed ? equal + " AND \(place.number) = \(table).id::numeric" : equal
    case (.field(let place), .field(let another)):
      let keys = "\(place.number) = \(another.number) AND \(place.text) = \(another.text)"
      switch type {
      case .number: return "\(place.number) = \(another.number) AND \(isValue)"
      case .date, .boolean: return keys + " AND \(isValue)"
      case .text:
        let equal = "\(place.string) = \(another.string)"
        return isIndexed || other.isIndexed ? keys + " AND " + equal : equal
      }
    }
  }
}

extension PostgresConditionCompiler {
  /// Translates a condition on related documents. The server plans the join: from either side, or of both as a whole.
  func related(_ related: RelatedCondition) -> Translation? {
    if related.matches != nil { return related.membership.flatMap(translateSimple) }
    let outer = metadata.alias ?? metadata.collection.table
    let alias = "nano_related_\(metadata.depth + 1)"
    guard var inner = metadata.related[related.collection.folded],
      let local = JoinEnd(related.local, in: outer, metadata),
      let remote = JoinEnd(related.remote, in: alias, inner), local.type == remote.type,
      !related.condition.searches,
      // Such tables can be joined only by their keys, and only if they are distributed alike.
      metadata.collection.layout != .distributed, inner.collection.layout != .distributed
    else { return nil }
    inner.related = metadata.related
    inner.alias = alias
    inner.depth = metadata.depth + 1
    let split = PostgresConditionCompiler(metadata: inner).split(related.condition)
    guard split.rest == nil else { return nil }
    let source = " FROM \(inner.collection.table) AS \(alias) WHERE "
    let condition = split.sql.map { " AND (" + $0 + ")" } ?? ""
    switch related.test {
    case .exists, .isNone:
      let exists =
        PostgresSQL("EXISTS (SELECT 1\(source)\(remote.equals(local))") + condition + ")"
      return Translation(
        sql: related.test == .exists ? exists : "NOT " + exists, isExact: true)
    case .count:
      guard case .value(.int(let number)) = related.bound else { return nil }
      // Documents without related ones are not among the groups.
      let includesNone = related.holds(forCount: 0)
      var rows = PostgresSQL("SELECT \(remote.value)\(source)\(remote.isValue)") + condition
      rows += " GROUP BY 1 HAVING \(includesNone ? "NOT " : "")(count(*) "
      rows += "\(related.comparison.rawValue == "!=" ? "<>" : related.comparison.rawValue) "
      rows += .value(.int(number)) + ")"
      let membership = PostgresSQL("\(local.isValue) AND \(local.value) IN (") + rows + ")"
      return Translation(
        sql: includesNone ? "(" + membership + ") IS NOT TRUE" : "(" + membership + ") IS TRUE",
        isExact: true)
    }
  }
}
