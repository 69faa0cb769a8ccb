// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery

/// An index of the words, or of all parts, of texts, kept by the database itself.
public struct FullTextIndexDefinition: Sendable, Hashable {
  /// Different from those of all other indexes of the collection.
  public var name: String {
    get { exactName.text }
    set { exactName = ExactName(newValue) }
  }
  private var exactName: ExactName
  /// The fields and how they are taken apart.
  package var scope: FullTextScope

  /// - Parameter name: Made from the fields if nil.
  public init(name: String? = nil, fields: [FieldPath], tokens: Tokenizer = .words) {
    scope = FullTextScope(fields, tokens: tokens)
    exactName = ExactName(name ?? Self.defaultName(scope))
  }

  /// The fields whose texts are indexed, in the order in which they were given.
  public var fields: [FieldPath] { scope.fields }
  /// What stands in the index.
  public var tokens: Tokenizer { scope.tokens }

  private static func defaultName(_ scope: FullTextScope) -> String {
    let fields = scope.fields.map(\.description).joined(separator: "_")
    return fields + (scope.tokens == .words ? "_text" : "_substrings")
  }

  /// Throws if there is no field, a path is not one, or a field stands twice.
  package func validate() throws(StoreError) {
    do throws(StoreError) { try scope.validate() } catch { throw error.adding(.index, name) }
  }
}

extension Query {
  /// The query with the fields of the text indexes that its searches name.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if there is no such index, or several where none
  ///   is named.
  package func resolvingSearches(
    in indexes: [FullTextIndexDefinition]
  ) throws(StoreError) -> Query {
    guard condition.searches else { return self }
    var copy = self
    copy.condition = try condition.resolvingSearches { (search) throws(StoreError) in
      try search.scope(in: indexes)
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
      if let found = indexes.first(where: { $0.name.isSame(as: index) }) { return found.scope }
      throw StoreError(
        .invalidArgument, "There is no text index of this name", [.index: index, .expected: names])
    }
    guard let only = indexes.first else {
      throw StoreError(
        .invalidArgument, "A collection without a text index cannot be searched by text",
        [.hint: "make one with createTextIndex"])
    }
    guard indexes.count == 1 else {
      throw StoreError(
        .invalidArgument, "A collection with several text indexes needs the name of one",
        [.expected: names])
    }
    return only.scope
  }
}

extension EngineWriter {
  public func createTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    throw StoreError(
      .unsupported, "The engine has no text indexes", [.capability: "textIndexes"])
  }
}
