// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// One end of a join: the SQL of its value, and what SQLite can do with it.
private struct JoinEnd {
  enum Kind { case key, rowID, field }
  var kind: Kind
  /// The class of the values. SQLite compares values of one class as NanoStore does.
  var type: PathSummary.PlainClass
  /// The SQL of the value in a table.
  var sql: (_ table: String) -> String
  /// Whether an index finds rows by the value.
  var isIndexed: Bool

  /// Returns `nil` for an expression whose values SQLite does not compare exactly, or of which a document has
  /// several.
  init?(_ expression: QueryExpression, _ metadata: CollectionMetadata) {
    switch expression {
    case .attribute(.key):
      self.init(kind: .key, type: .text, isIndexed: true) { "\($0).key" }
    case .attribute(.rowID):
      self.init(kind: .rowID, type: .number, isIndexed: true) { "\($0).id" }
    case .field(let path):
      guard metadata.defaults?.reaches(path) != true,
        // json_extract returns the JSON text of a decimal.
        let type = metadata.observed(path)?.plainClass, type != .decimal,
        FieldExpression.extract(path) != nil
      else { return nil }
      self.init(kind: .field, type: type, isIndexed: metadata.isIndexed(path)) {
        FieldExpression.extract(path, from: "\($0).body") ?? "NULL"
      }
    default: return nil
    }
  }

  private init(
    kind: Kind, type: PathSummary.PlainClass, isIndexed: Bool, sql: @escaping (String) -> String
  ) {
    self.kind = kind
    self.type = type
    self.isIndexed = isIndexed
    self.sql = sql
  }

  /// Returns the SQL of the value in the form in which the other end is stored. Keys that are UUIDs are stored as 16
  /// bytes, fields as text.
  func sql(in table: String, for other: JoinEnd) -> String {
    switch (kind, other.kind) {
    case (.field, .key): "nano_key(\(sql(table)))"
    case (.key, .field): "nano_key_text(\(sql(table)))"
    // Without the affinity of the column, an index on an expression can be used.
    case (.rowID, .field): "+\(sql(table))"
    default: sql(table)
    }
  }
}

/// Joins with related documents, where SQLite's comparisons are exact.
extension ConditionCompiler {
  /// Translates a condition on related documents, or its negation.
  ///
  /// There are two forms. `value IN (SELECT …)` reads the related documents once, and finds documents by an index on
  /// the value. `EXISTS (SELECT …)` looks up the related documents of each document: for when another condition finds
  /// few documents, and nothing finds few related documents.
  func related(_ related: RelatedCondition, isNegated: Bool) -> Translation? {
    if related.matches != nil {
      return isNegated ? nil : related.membership.flatMap(translateSimple)
    }
    guard let inner = metadata.related[ExactName(related.collection)], !metadata.hasForeignRows,
      !inner.hasForeignRows, let local = JoinEnd(related.local, metadata),
      let remote = JoinEnd(related.remote, inner), local.type == remote.type,
      let found = innerRows(related.condition, inner)
    else { return nil }
    let outer = metadata.alias ?? SQLName.quoted(metadata.table)
    let alias = alias(inside: metadata)
    let source = "FROM \(SQLName.quoted(inner.table)) AS \(alias) WHERE "
    // Looking up each document's related ones is cheaper than reading all of them if few documents are left, or if
    // each document is read in any case.
    if related.test != .count, prefersLookups || !local.isIndexed, remote.isIndexed, !found.isLookup
    {
      let equal = "\(remote.sql(alias)) = \(local.sql(in: outer, for: remote))"
      let exists =
        SQLFragment("EXISTS (SELECT 1 \(source)\(equal)") + found.and + ")"
      let isExpected = (related.test == .exists) != isNegated
      return Translation(sql: isExpected ? exists : "NOT " + exists, isExact: true, isLookup: false)
    }
    let value = remote.sql(in: alias, for: local)
    var rows = SQLFragment("SELECT \(value) \(source)\(value) IS NOT NULL") + found.and
    var isExpected = !isNegated
    switch related.test {
    case .exists: break
    case .isNone: isExpected.toggle()
    case .count:
      guard case .value(.int(let number)) = related.bound else { return nil }
      // Documents without related ones are not among the groups.
      let includesNone = related.holds(forCount: 0)
      let test = "count(*) \(related.comparison.rawValue) "
      rows.append(SQLFragment(" GROUP BY 1 HAVING \(includesNone ? "NOT (" : "(")\(test)"))
      rows.append(.parameter(.int(number)) + ")")
      if includesNone { isExpected.toggle() }
    }
    let membership = SQLFragment("\(local.sql(outer)) IN (") + rows + ")"
    // NULL is in no list, and not in the complement of one either.
    return isExpected
      ? Translation(sql: membership, isExact: true, isLookup: local.isIndexed)
      : Translation(sql: "(" + membership + ") IS NOT TRUE", isExact: true, isLookup: false)
  }

  private struct InnerRows {
    /// ` AND (…)`, or empty.
    var and: SQLFragment
    var isLookup: Bool
  }

  /// Returns the condition on the rows of related documents; `nil` if SQL and the functions of the connection cannot
  /// decide it, or if it is nested too deeply.
  private func innerRows(_ condition: Condition, _ inner: CollectionMetadata) -> InnerRows? {
    var metadata = inner
    metadata.related = self.metadata.related
    metadata.alias = alias(inside: self.metadata)
    metadata.depth = self.metadata.depth + 1
    // For SQLite's parser, a subquery is as deep as four pairs of parentheses. The check of the rest is a part, too.
    let levels = 4 + SQLFragment.levels(ofParts: condition.conjuncts.count + 1)
    guard let compiler = ConditionCompiler(metadata: metadata, depth: depth).nested(levels)
    else { return nil }
    let conjuncts = compiler.translateConjuncts(condition)
    let split = compiler.split(condition)
    guard split.rest?.hasUnreadRelated != true, !condition.searches else { return nil }
    let parts = [split.sql, split.rest.map { QueryCompiler(metadata).check($0) }].compactMap(\.self)
    let all = SQLFragment.all(parts).map { SQLFragment(" AND (", []) + $0 + ")" }
    return InnerRows(
      and: all ?? "", isLookup: conjuncts.translations.contains { $0.isLookup || $0.leaves != nil })
  }

  /// The alias of the related documents' table, distinct from the table that surrounds it, even if both are the same.
  private func alias(inside metadata: CollectionMetadata) -> String {
    "nano_related_\(metadata.depth + 1)"
  }
}
