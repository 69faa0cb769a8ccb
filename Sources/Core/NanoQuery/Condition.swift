// SPDX-License-Identifier: MIT

public import NanoDocument

/// A condition on documents: true or false for every document, never unknown.
///
/// Usually written with ``Field`` and operators, or as query text.
///
/// ```swift
/// Field("LastName") == "Doe" && Field("Address.Country") == "US"
/// !(Field("tags").contains("draft")) || Field("age").isBetween(18, and: 30)
/// ```
public indirect enum Condition: Sendable, Hashable {
  /// Always true or always false.
  case constant(Bool)
  /// All conditions are true. Empty: true.
  case all([Condition])
  /// At least one condition is true. Empty: false.
  case any([Condition])
  /// The condition is false.
  case not(Condition)
  /// Some value of the left side compares as specified with some value of the right side.
  case comparison(QueryExpression, Comparison, QueryExpression)
  /// Some string of the left side matches some pattern of the right side.
  case text(QueryExpression, TextMatch, QueryExpression)
  /// Some value of the expression equals some value of the list.
  case membership(QueryExpression, [QueryExpression])
  /// Some value of the expression is between the bounds, inclusive.
  case between(QueryExpression, QueryExpression, QueryExpression)
  /// Some value is null, or there is none.
  case isNull(QueryExpression)
  /// Both sides are equal, or both are null.
  case same(QueryExpression, QueryExpression)
  /// The field exists, even if it is null.
  case exists(FieldPath)
  /// One element of the array at the path satisfies the condition, whose paths are relative to the
  /// element.
  case element(FieldPath, Condition)
  /// Some leaf, a value that is neither an object nor an array, satisfies the condition, at any path.
  /// In the condition, the element path (`[@]` in query text) is the leaf and ``Attribute/leafPath``
  /// its path, which omits array indices.
  case leaf(Condition)
  /// The expression is true, or a number other than zero.
  case truth(QueryExpression)
  /// The full-text query matches the indexed fields. Allowed only in `all`, `any` and `not`.
  case search(FullTextSearch)
  /// The number of related documents of another collection compares as specified with a bound.
  case related(RelatedCondition)
}

/// A comparison operator. Values compare only within their rank, such as numbers or strings
/// (docs/QUERY-SEMANTICS.md, rule 13); between ranks, every comparison is false.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
  /// Equal to.
  case equal = "="
  /// Not equal to, and of the same rank.
  case notEqual = "!="
  /// Less than.
  case less = "<"
  /// Less than or equal to.
  case lessOrEqual = "<="
  /// Greater than.
  case greater = ">"
  /// Greater than or equal to.
  case greaterOrEqual = ">="

  /// The equivalent comparison with the operands exchanged.
  package var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  /// The values that a comparison with a constant selects, as one interval in the sort order.
  package enum Interval { case equal, upTo, from }

  /// The interval that contains all values that compare as specified with a constant on the right, or
  /// `nil` if it is not one interval, and an index cannot find them.
  package var interval: Interval? {
    switch self {
    case .equal: .equal
    case .less, .lessOrEqual: .upTo
    case .greater, .greaterOrEqual: .from
    case .notEqual: nil
    }
  }
}

/// A string match with a pattern. All cases except `like`, `glob` and `regexp` take the pattern
/// literally.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
  /// The string begins with the pattern.
  case beginsWith
  /// The string contains the pattern.
  case contains
  /// The string ends with the pattern.
  case endsWith
  /// The string equals the pattern, ignoring case.
  case insensitiveEqualTo
  /// The string begins with the pattern, ignoring case.
  case insensitiveBeginsWith
  /// The string contains the pattern, ignoring case.
  case insensitiveContains
  /// The string ends with the pattern, ignoring case.
  case insensitiveEndsWith
  /// SQL `LIKE`: `%` matches any text, `_` any one character; ASCII letters match in either case.
  case like
  /// SQL `GLOB`: `*`, `?` and `[a-z]`, case-sensitive.
  case glob
  /// A regular expression that matches anywhere in the string.
  case regexp

  /// Whether both sides are case-folded before the comparison.
  public var ignoresCase: Bool {
    switch self {
    case .insensitiveEqualTo, .insensitiveBeginsWith, .insensitiveContains, .insensitiveEndsWith:
      true
    case .beginsWith, .contains, .endsWith, .like, .glob, .regexp: false
    }
  }
}

/// The eleven match operators of ``Field/matches(_:_:)``.
public enum Match: String, Sendable, Hashable, CaseIterable {
  /// The value equals the given one; null also matches a missing field.
  case equalTo
  /// The string begins with the given one.
  case beginsWith
  /// The string contains the given one.
  case contains
  /// The string ends with the given one.
  case endsWith
  /// The string equals the given one, ignoring case.
  case insensitiveEqualTo
  /// The string begins with the given one, ignoring case.
  case insensitiveBeginsWith
  /// The string contains the given one, ignoring case.
  case insensitiveContains
  /// The string ends with the given one, ignoring case.
  case insensitiveEndsWith
  /// The value is greater than the given one and of the same rank.
  case greaterThan
  /// The value is less than the given one and of the same rank.
  case lessThan
  /// The value differs from the given one and is of the same rank; with null, the field has a value and none is null.
  case notEqualTo
}

extension Condition {
  /// All paths in the condition, in order of appearance, including duplicates. Paths inside
  /// ``element(_:_:)`` are relative to the document.
  package var fields: [FieldPath] {
    switch self {
    // A leaf condition applies at any path, so it names none.
    case .constant, .leaf: []
    case .all(let parts), .any(let parts): parts.flatMap(\.fields)
    case .not(let part): part.fields
    case .comparison(let left, _, let right), .text(let left, _, let right),
      .same(let left, let right):
      left.fields + right.fields
    case .membership(let operand, let list): operand.fields + list.flatMap(\.fields)
    case .between(let operand, let low, let high): operand.fields + low.fields + high.fields
    case .isNull(let operand), .truth(let operand): operand.fields
    case .exists(let path): [path]
    case .element(let path, let condition):
      [path] + condition.fields.map { path.appending($0) }
    case .search(let search): search.scope?.fields ?? []
    // The other paths are those of another collection's documents.
    case .related(let related): related.local.fields
    }
  }

  /// Returns the condition with expressions replaced where the closure returns a replacement. The closure
  /// is called for each expression before its operands, but not for the paths of ``exists(_:)`` and
  /// ``element(_:_:)``, nor for the expressions of related documents.
  package func replacingExpressions<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> Condition {
    switch self {
    case .constant, .exists, .search: return self
    case .all(let parts): return .all(try parts.replacingExpressions(replacement))
    case .any(let parts): return .any(try parts.replacingExpressions(replacement))
    case .not(let part): return .not(try part.replacingExpressions(replacement))
    case .comparison(let left, let comparison, let right):
      return .comparison(
        try left.replacingExpressions(replacement), comparison,
        try right.replacingExpressions(replacement))
    case .text(let left, let match, let right):
      return .text(
        try left.replacingExpressions(replacement), match,
        try right.replacingExpressions(replacement))
    case .same(let left, let right):
      return .same(
        try left.replacingExpressions(replacement), try right.replacingExpressions(replacement))
    case .membership(let operand, let list):
      return .membership(
        try operand.replacingExpressions(replacement), try list.replacingExpressions(replacement))
    case .between(let operand, let low, let high):
      return .between(
        try operand.replacingExpressions(replacement), try low.replacingExpressions(replacement),
        try high.replacingExpressions(replacement))
    case .isNull(let operand): return .isNull(try operand.replacingExpressions(replacement))
    case .leaf(let condition): return .leaf(try condition.replacingExpressions(replacement))
    case .element(let path, let condition):
      return .element(path, try condition.replacingExpressions(replacement))
    case .truth(let operand): return .truth(try operand.replacingExpressions(replacement))
    case .related(var related):
      // Only the expression of this document: the others are evaluated on other documents.
      related.local = try related.local.replacingExpressions(replacement)
      return .related(related)
    }
  }

  /// Checks that all paths, function calls and searches are valid and no parameter is unbound.
  ///
  /// - Throws: ``StoreError/Code/invalidPath``, ``StoreError/Code/invalidArgument``, ``StoreError/Code/tooComplex``.
  package func validate() throws(StoreError) {
    guard !isDeeper(than: Self.maximumDepth) else {
      throw StoreError(
        .tooComplex, "A condition is nested too deeply",
        [
          .limit: "\(Self.maximumDepth) levels",
          .hint: "combine many conditions as .any([…]) or .all([…]), or use isIn(_:)",
        ])
    }
    for path in fields { try path.validate() }
    _ = try replacingExpressions { (expression) throws(StoreError) in
      try expression.validateConstants()
      guard case .parameter(let parameter) = expression else { return nil }
      throw StoreError(
        .invalidArgument, "A parameter of the condition has no argument",
        [.expected: parameter.description])
    }
    try validateSearches()
    guard hasRelated else { return }
    _ = try replacingRelated { (related) throws(StoreError) in
      try related.validate()
      return .constant(true)
    }
  }
}

extension Condition {
  /// Whether the condition contains a ``leaf(_:)`` condition.
  package var hasLeafConditions: Bool {
    switch self {
    case .leaf: true
    case .all(let parts), .any(let parts): parts.contains(where: \.hasLeafConditions)
    case .not(let part): part.hasLeafConditions
    case .comparison(let left, _, let right), .text(let left, _, let right),
      .same(let left, let right):
      left.hasLeafConditions || right.hasLeafConditions
    case .membership(let operand, let list):
      operand.hasLeafConditions || list.contains(where: \.hasLeafConditions)
    case .between(let operand, let low, let high):
      operand.hasLeafConditions || low.hasLeafConditions || high.hasLeafConditions
    case .isNull(let operand), .truth(let operand): operand.hasLeafConditions
    case .element(_, let part): part.hasLeafConditions
    case .related(let related): related.local.hasLeafConditions
    case .constant, .exists, .search: false
    }
  }
}

extension [Condition] {
  func replacingExpressions<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> [Condition] {
    var replaced: [Condition] = []
    for condition in self { replaced.append(try condition.replacingExpressions(replacement)) }
    return replaced
  }
}

extension Parameter: CustomStringConvertible {
  /// The parameter as query text writes it, such as `?1` or `:name`.
  public var description: String {
    switch self {
    case .position(let number): "?\(number)"
    case .name(let name): ":\(name)"
    }
  }
}
