// SPDX-License-Identifier: MIT

public import NanoDocument

/// A condition on the documents of another collection that are related to a document.
///
/// A document of the other collection is related if some value of its ``remote`` expression equals some
/// value of the ``local`` expression of this document. The condition counts the related documents that
/// satisfy ``condition``, and compares the count.
///
/// ```swift
/// Related("directorID", in: "people").has(Field("country") == "UK")
/// // [directorID] IN (SELECT [__key__] FROM people WHERE [country] = 'UK')
/// ```
public struct RelatedCondition: Sendable, Hashable {
  /// The expression of this document.
  public var local: QueryExpression
  /// The name of the other collection.
  public var collection: String
  /// The expression of the related document.
  public var remote: QueryExpression
  /// The condition that related documents must satisfy to be counted.
  public var condition: Condition
  /// The comparison of the count with the bound.
  public var comparison: Comparison
  /// The bound: a constant or a parameter.
  public var bound: QueryExpression
  /// The related values, once an engine has read them.
  package var matches: RelatedMatches?

  /// Creates a condition on the number of related documents; by default, that there is one.
  public init(
    local: QueryExpression, collection: String, remote: QueryExpression,
    condition: Condition = .constant(true), comparison: Comparison = .greaterOrEqual,
    bound: QueryExpression = .value(.int(1))
  ) {
    self.local = local
    self.collection = collection
    self.remote = remote
    self.condition = condition
    self.comparison = comparison
    self.bound = bound
  }

  /// Names are compared by their bytes, and related values by identity: they are never read twice for one query.
  public static func == (a: RelatedCondition, b: RelatedCondition) -> Bool {
    a.local == b.local && a.collection.hasSameBytes(as: b.collection) && a.remote == b.remote
      && a.condition == b.condition && a.comparison == b.comparison && a.bound == b.bound
      && a.matches === b.matches
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(local)
    hasher.combine(ExactName(collection))
    hasher.combine(remote)
    hasher.combine(condition)
    hasher.combine(comparison)
    hasher.combine(bound)
    hasher.combine(matches.map(ObjectIdentifier.init))
  }
}

extension RelatedCondition {
  /// What has to be known about the related documents.
  package enum Test: Sendable, Hashable {
    /// Whether there is one, or there is none.
    case exists, isNone
    /// How many there are.
    case count
  }

  /// What has to be known about the related documents to decide the condition.
  package var test: Test {
    guard case .value(.int(let number)) = bound else { return .count }
    switch (comparison, number) {
    case (.greaterOrEqual, 1), (.greater, 0), (.notEqual, 0): return .exists
    case (.less, 1), (.lessOrEqual, 0), (.equal, 0): return .isNone
    default: return .count
    }
  }

  /// Whether the condition is written as `local IN (SELECT …)`.
  var isMembership: Bool { comparison == .greaterOrEqual && bound == .value(.int(1)) }

  /// Returns whether the condition is true for a number of related documents.
  package func holds(forCount count: Int) -> Bool {
    guard case .value(let value) = bound else { return false }
    return Evaluator<DocumentSubject>.compares(.int(Int64(count)), comparison, value)
  }

  /// Returns whether the condition is true for a document with these local values.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` if the related documents have not been read.
  func holds(for values: [DocumentValue]) throws(StoreError) -> Bool {
    // Nothing is related to a document without values.
    guard values.contains(where: \.canRelate) else { return holds(forCount: 0) }
    guard let matches else {
      throw StoreError(
        .unsupported, "A condition on related documents is not allowed here",
        [.collection: collection, .hint: "use it as a condition of a query"])
    }
    switch test {
    case .exists: return matches.contains(anyOf: values)
    case .isNone: return !matches.contains(anyOf: values)
    case .count: return holds(forCount: matches.count(of: values))
    }
  }

  /// Returns the condition that an expression has one of the values.
  package static func reading(_ local: QueryExpression, _ matches: RelatedMatches)
    -> RelatedCondition
  {
    var related = RelatedCondition(local: local, collection: "", remote: local)
    related.matches = matches
    return related
  }

  /// The equivalent condition on a list of values; `nil` unless the related values have been read and are few, and
  /// membership in the list decides the condition.
  package var membership: Condition? {
    guard test == .exists, let values = matches?.values else { return nil }
    return .membership(local, values.map { .value($0) })
  }

  /// Checks the expressions and the condition on related documents.
  func validate() throws(StoreError) {
    guard matches == nil else { return }
    guard !collection.isEmpty else {
      throw StoreError(.invalidName, "The collection of related documents has no name")
    }
    try Condition.comparison(local, .equal, remote).validate()
    try condition.validate()
    guard case .value = bound else {
      throw StoreError(
        .invalidArgument, "The number of related documents is not compared with a constant",
        [.expected: "an integer", .value: bound.queryText])
    }
  }
}
