// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
public import NanoQuery

extension DocumentCollection {
  /// Creates a full-text index for ``search(_:in:)-(String,_)``. Does nothing if the same index
  /// exists.
  ///
  /// ```swift
  /// try films.createFullTextIndex("title", "plot")                  // words: "creme" finds "crème"
  /// try films.createFullTextIndex("title", tokens: .substrings)      // any substring of a title: "reme"
  /// ```
  ///
  /// All strings in the fields are indexed, including those in arrays; other values are not. The
  /// database maintains the index on every write, including those of other programs.
  /// ``rebuildIndexes(progress:)-(((Double)->Void)?)`` rebuilds it, ``dropIndex(_:)-(String)``
  /// drops it.
  ///
  /// - Parameters:
  ///   - fields: The fields to index.
  ///   - tokens: How strings are split into tokens.
  ///   - name: The name of the index, unique among all indexes of the collection; derived from the
  ///     fields if nil.
  /// - Returns: The definition of the index.
  /// - Throws: ``StoreError/Code/alreadyExists`` if the name belongs to a different index,
  ///   ``StoreError/Code/unsupported`` if the engine has no full-text indexes or cannot index a
  ///   field of this name. No index is then created.
  @discardableResult
  public func createFullTextIndex(
    _ fields: String..., tokens: Tokenizer = .words, name: String? = nil
  ) throws -> FullTextIndexDefinition {
    try createFullTextIndex(fields: fields, tokens: tokens, name: name)
  }
  /// The asynchronous form of `createFullTextIndex(_:tokens:name:)`, which does not block the calling
  /// thread.
  @discardableResult
  public func createFullTextIndex(
    _ fields: String..., tokens: Tokenizer = .words, name: String? = nil
  ) async throws -> FullTextIndexDefinition {
    try await onWriter { try self.createFullTextIndex(fields: fields, tokens: tokens, name: name) }
  }

  /// Creates a full-text index on fields given as an array; see
  /// ``createFullTextIndex(_:tokens:name:)-(String...,_,_)``.
  @discardableResult
  public func createFullTextIndex(
    fields: [String], tokens: Tokenizer = .words, name: String? = nil
  ) throws -> FullTextIndexDefinition {
    let index = FullTextIndexDefinition(
      name: name, fields: fields.map { FieldPath($0) }, tokens: tokens)
    try InternalCollection.refuse(self.name)
    try writing(atomic: true) { try $0.createFullTextIndex(index, in: self.name) }
    return index
  }
  /// The asynchronous form of `createFullTextIndex(fields:tokens:name:)`, which does not block the
  /// calling thread.
  @discardableResult
  public func createFullTextIndex(
    fields: [String], tokens: Tokenizer = .words, name: String? = nil
  ) async throws -> FullTextIndexDefinition {
    try await onWriter { try self.createFullTextIndex(fields: fields, tokens: tokens, name: name) }
  }

  /// Creates a full-text index on fields written as text, which may contain aliases. Does nothing
  /// if an index of the same fields exists, whatever its name.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is not a list of fields.
  func createFullTextIndex(keys: String, tokens: Tokenizer) throws {
    let fields = try fields(in: keys).map(\.path)
    try InternalCollection.refuse(name)
    try writing(atomic: true) { writer in
      let known = try writer.fullTextIndexes(in: name)
      guard !known.contains(where: { $0.fields == fields && $0.tokens == tokens }) else { return }
      try writer.createFullTextIndex(
        FullTextIndexDefinition(fields: fields, tokens: tokens), in: name)
    }
  }

  /// Returns the full-text indexes, sorted by name.
  public func fullTextIndexes() throws -> [FullTextIndexDefinition] {
    try reading(.call) { try $0.fullTextIndexes(in: name) }
  }
  /// The asynchronous form of `fullTextIndexes()`, which does not block the calling thread.
  public func fullTextIndexes() async throws -> [FullTextIndexDefinition] {
    try await onReader { try self.fullTextIndexes() }
  }
}

extension FullTextIndexDefinition {
  /// The fields of the index as text, such as `[title], [plot]`.
  public var keys: String { fields.map { Ordering($0).queryText }.joined(separator: ", ") }
}
