// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
public import NanoQuery

extension DocumentCollection {
  /// Makes a text index, for ``search(_:in:)-(String,_)``; does nothing if the same one exists.
  ///
  /// ```swift
  /// try films.createTextIndex("title", "plot")                  // words: "crème" is found by "creme"
  /// try films.createTextIndex("title", tokens: .substrings)      // any part of a title: "reme"
  /// ```
  ///
  /// The strings that a field holds are indexed, those in lists too; other values are not. The database keeps
  /// the index, whoever writes. ``rebuildIndexes(progress:)-(((Double)->Void)?)`` makes it anew,
  /// ``dropIndex(_:)-(String)`` removes it.
  ///
  /// - Parameter name: Made from the fields if nil; different from those of all other indexes of the
  ///   collection.
  /// - Throws: ``StoreError/Code/alreadyExists`` if the name belongs to another index,
  ///   ``StoreError/Code/unsupported`` if the engine has no text indexes or cannot index a field of this
  ///   name. There is no index then.
  @discardableResult
  public func createTextIndex(
    _ fields: String..., tokens: Tokenizer = .words, name: String? = nil
  ) throws -> FullTextIndexDefinition {
    try createTextIndex(fields: fields, tokens: tokens, name: name)
  }
  @discardableResult
  public func createTextIndex(
    _ fields: String..., tokens: Tokenizer = .words, name: String? = nil
  ) async throws -> FullTextIndexDefinition {
    try await onWriter { try self.createTextIndex(fields: fields, tokens: tokens, name: name) }
  }

  /// As ``createTextIndex(_:tokens:name:)-(String...,_,_)``, with the fields in an array.
  @discardableResult
  public func createTextIndex(
    fields: [String], tokens: Tokenizer = .words, name: String? = nil
  ) throws -> FullTextIndexDefinition {
    let index = FullTextIndexDefinition(
      name: name, fields: fields.map { FieldPath($0) }, tokens: tokens)
    try InternalCollection.refuse(self.name)
    try writing(atomic: true) { try $0.createTextIndex(index, in: self.name) }
    return index
  }
  @discardableResult
  public func createTextIndex(
    fields: [String], tokens: Tokenizer = .words, name: String? = nil
  ) async throws -> FullTextIndexDefinition {
    try await onWriter { try self.createTextIndex(fields: fields, tokens: tokens, name: name) }
  }

  /// Makes a text index of fields that are written as text, with aliases; does nothing if there is one of the
  /// same fields, however it is called.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is no list of fields.
  func createTextIndex(keys: String, tokens: Tokenizer) throws {
    let fields = try fields(in: keys).map(\.path)
    try InternalCollection.refuse(name)
    try writing(atomic: true) { writer in
      let known = try writer.textIndexes(in: name)
      guard !known.contains(where: { $0.fields == fields && $0.tokens == tokens }) else { return }
      try writer.createTextIndex(FullTextIndexDefinition(fields: fields, tokens: tokens), in: name)
    }
  }

  /// The text indexes, by name.
  public func textIndexes() throws -> [FullTextIndexDefinition] {
    try reading(.call) { try $0.textIndexes(in: name) }
  }
  public func textIndexes() async throws -> [FullTextIndexDefinition] {
    try await onReader { try self.textIndexes() }
  }
}

extension FullTextIndexDefinition {
  /// The fields as text: `[title], [plot]`.
  public var keys: String { fields.map { Ordering($0).queryText }.joined(separator: ", ") }
}
