// SPDX-License-Identifier: MIT

public import NanoDocument

/// What a document must fulfil to be found: true or false for every document, never unknown.
///
/// Usually written with ``Field`` and operators, or as text.
///
/// ```swift
/// Field("LastName") == "Doe" && Field("Address.Country") == "US"
/// !(Field("tags").contains("draft")) || Field("age").isBetween(18, and: 30)
/// ```
public indirect enum Condition: Sendable, Hashable {
  case constant(Bool)
  case all([Condition])
  case any([Condition])
  case not(Condition)
  /// Some value of the left side stands in this relation to some value of the right side.
  case comparison(QueryExpression, Comparison, QueryExpression)
  case text(QueryExpression, TextMatch, QueryExpression)
  case membership(QueryExpression, [QueryExpression])
  case between(QueryExpression, QueryExpression, QueryExpression)
  /// Some value is null, or there is none.
  case isNull(QueryExpression)
  /// Both sides are equal, or both are null.
  case same(QueryExpression, QueryExpression)
  /// The field is there, even if it is null.
  case exists(FieldPath)
  /// One element of the array at the path satisfies the condition, whose paths start there.
  case element(FieldPath, Condition)
  /// Some leaf, a value that is neither object nor array, satisfies the condition wherever it
  /// stands. In the condition ``FieldPath/element`` is the leaf and ``Attribute/leafPath`` its path,
  /// in which arrays add nothing.
  case leaf(Condition)
  /// The expression is true, or a number other than zero.
  case truth(QueryExpression)
  /// The texts of the fields of a text index are what is searched for. It stands in all, any and not only.
  case search(FullTextSearch)
}

/// How two values of one rank stand to each other.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
  case equal = "="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  /// The comparison that says the same with the sides exchanged.
  package var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// How a text is compared with a pattern. All but the last three take the pattern literally.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
  case beginsWith, contains, endsWith
  case insensitiveEqualTo, insensitiveBeginsWith, insensitiveContains, insensitiveEndsWith
  /// `%` stands for any text, `_` for one character; ASCII letters match in either case.
  case like
  /// `*`, `?` and `[a-z]`, case-sensitive.
  case glob
  /// A regular expression found anywhere in the text.
  case regexp

  /// Whether both sides are folded before they are compared.
  public var ignoresCase: Bool {
    switch self {
    case .insensitiveEqualTo, .insensitiveBeginsWith, .insensitiveContains, .insensitiveEndsWith:
      true
    default: false
    }
  }
}

/// The eleven ways in which a value is matched, for use with ``Field/matches(_:_:)``.
public enum Match: String, Sendable, Hashable, CaseIterable {
  case equalTo, beginsWith, contains, endsWith
  case insensitiveEqualTo, insensitiveBeginsWith, insensitiveContains, insensitiveEndsWith
  case greaterThan, lessThan, notEqualTo
}

extension Condition {
  /// Every path in this condition, in order of appearance, repetitions included; paths inside
  /// ``element(_:_:)`` count from the document.
  package var fields: [FieldPath] {
    switch self {
    // A leaf stands anywhere, so no path is named.
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
    }
  }

  /// The same condition with other leaves in its expressions, where the closure gives one.
  package func replacingLeaves<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> Condition {
    switch self {
    case .constant, .exists, .search: return self
    case .all(let parts): return .all(try parts.replacingLeaves(replacement))
    case .any(let parts): return .any(try parts.replacingLeaves(replacement))
    case .not(let part): return .not(try part.replacingLeaves(replacement))
    case .comparison(let left, let comparison, let right):
      return .comparison(
        try left.replacingLeaves(replacement), comparison, try right.replacingLeaves(replacement))
    case .text(let left, let match, let right):
      return .text(
        try left.replacingLeaves(replacement), match, try right.replacingLeaves(replacement))
    case .same(let left, let right):
      return .same(try left.replacingLeaves(replacement), try right.replacingLeaves(replacement))
    case .membership(let operand, let list):
      return .membership(
        try operand.replacingLeaves(replacement), try list.replacingLeaves(replacement))
    case .between(let operand, let low, let high):
      return .between(
        try operand.replacingLeaves(replacement), try low.replacingLeaves(replacement),
        try high.replacingLeaves(replacement))
    case .isNull(let operand): return .isNull(try operand.replacingLeaves(replacement))
    case .leaf(let condition): return .leaf(try condition.replacingLeaves(replacement))
    case .element(let path, let condition):
      return .element(path, try condition.replacingLeaves(replacement))
    case .truth(let operand): return .truth(try operand.replacingLeaves(replacement))
    }
  }

  /// Throws if a path is not a path or a parameter has no argument.
  package func validate() throws(StoreError) {
    for path in fields { try path.validate() }
    _ = try replacingLeaves { (leaf) throws(StoreError) in
      guard case .parameter(let parameter) = leaf else { return nil }
      throw StoreError(
        .invalidArgument, "A parameter of the condition has no argument",
        [.expected: parameter.description])
    }
    try validateSearches()
  }
}

extension Condition {
  /// Whether the condition asks for leaves wherever they stand.
  package var asksForLeaves: Bool {
    switch self {
    case .leaf: true
    case .all(let parts), .any(let parts): parts.contains(where: \.asksForLeaves)
    case .not(let part): part.asksForLeaves
    case .comparison(let left, _, let right), .text(let left, _, let right),
      .same(let left, let right):
      left.asksForLeaves || right.asksForLeaves
    case .membership(let operand, let list):
      operand.asksForLeaves || list.contains(where: \.asksForLeaves)
    case .between(let operand, let low, let high):
      operand.asksForLeaves || low.asksForLeaves || high.asksForLeaves
    case .isNull(let operand), .truth(let operand): operand.asksForLeaves
    case .element(_, let part): part.asksForLeaves
    case .constant, .exists, .search: false
    }
  }
}

extension [Condition] {
  func replacingLeaves<E: Error>(
    _ replacement: (QueryExpression) throws(E) -> QueryExpression?
  ) throws(E) -> [Condition] {
    var replaced: [Condition] = []
    for condition in self { replaced.append(try condition.replacingLeaves(replacement)) }
    return replaced
  }
}

extension Parameter: CustomStringConvertible {
  public var description: String {
    switch self {
    case .position(let number): "?\(number)"
    case .name(let name): ":\(name)"
    }
  }
}
