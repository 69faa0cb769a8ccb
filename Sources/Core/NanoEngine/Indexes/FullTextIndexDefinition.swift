// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery

/// A full-text index by words or by substrings, maintained by the database.
public struct FullTextIndexDefinition: Sendable, Hashable {
  /// The name of the index, unique within its collection.
  public var name: String {
    get { exactName.text }
    set { exactName = ExactName(newValue) }
  }
  private var exactName: ExactName
  /// The fields and how their text is tokenized.
  package var scope: FullTextScope

  /// Creates the definition of a full-text index.
  ///
  /// - Parameter name: Derived from the fields if `nil`.
  public init(name: String? = nil, fields: [FieldPath], tokens: Tokenizer = .words) {
    scope = FullTextScope(fields, tokens: tokens)
    exactName = ExactName(name ?? Self.defaultName(scope))
  }

  /// The fields whose text is indexed, in the order in which they were given.
  public var fields: [FieldPath] { scope.fields }
  /// How text is tokenized.
  public var tokens: Tokenizer { scope.tokens }

  private static func defaultName(_ scope: FullTextScope) -> String {
    let fields = scope.fields.map(\.description).joined(separator: "_")
    return fields + (scope.tokens == .words ? "_text" : "_substrings")
  }

  /// Checks that the index has fields, that their paths are valid, and that no field occurs twice.
  ///
  /// - Throws: ``StoreError`` if the definition is invalid.
  package func validate() throws(StoreError) {
    do throws(StoreError) { try scope.validate() } catch { throw error.adding(.index, name) }
  }
}

extension Query {
  /// Returns the query with its searches resolved to the fields of the full-text indexes that they name.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if an index does not exist, if a search names no index and
  ///   the collection has several, or if a field with a weight is not in the index.
  package func resolvingSearches(
    in indexes: [FullTextIndexDefinition]
  ) throws(StoreError) -> Query {
    guard condition.searches else { return self }
    var copy = self
    copy.condition = try condition.resolvingSearches { (search) throws(StoreError) in
      try search.scope(in: indexes)
    }
    if let ranking, !ranking.weights.isEmpty, let scope = copy.condition.rankingSearch?.scope {
      for path in ranking.weights.keys { try scope.requireField(path) }
    }
    return copy
  }
}

extension FullTextSearch {
  fileprivate func scope(in indexes: [FullTextIndexDefinition]) throws(StoreError) -> FullTextScope
  {
    if let scope { return scope }
    let names = indexes.map(\.name).joined(separator: ", ")
    if let index {
      if let found = indexes.first(where: { $0.name.hasSameBytes(as: index) }) {
        return found.scope
      }
      throw StoreError(
        .invalidArgument, "No text index has this name", [.index: index, .expected: names])
    }
    if let preferredIndex,
      let found = indexes.first(where: { $0.name.hasSameBytes(as: preferredIndex) })
    {
      return found.scope
    }
    guard let only = indexes.first else {
      throw StoreError(
        .invalidArgument, "Full-text search needs a text index, and the collection has none",
        [
          .hint: "create one with createFullTextIndex, or for a model with @TextIndexed "
            + "properties, call prepare() of its collection"
        ])
    }
    guard indexes.count == 1 else {
      throw StoreError(
        .invalidArgument, "The collection has several text indexes, and the search names none",
        [.expected: names])
    }
    return only.scope
  }
}

extension EngineWriter {
  /// Throws ``StoreError/Code/unsupported``, the default for engines without full-text indexes.
  package func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    throw StoreError(
      .unsupported, "The engine has no text indexes", [.capability: "fullTextIndexes"])
  }
}
