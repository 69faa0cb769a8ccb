// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentCollection {
  /// What stands for fields that a document does not have when the collection is asked; empty unless
  /// set.
  public func defaults() throws -> DocumentObject { try settings().defaults }
  public func defaults() async throws -> DocumentObject {
    try await onReader { try self.defaults() }
  }

  /// Says what stands for fields that a document does not have when the collection is asked.
  ///
  /// ```swift
  /// try people.insert(["name": "Ada"])
  /// try people.setDefaults(["active": true, "address": ["country": "US"]])
  /// try people.find("[active] AND [address.country] = 'US'").count()   // 1
  /// try people.find().first()                                          // {"name":"Ada"}
  /// ```
  ///
  /// A path that reaches nothing in a document has what it reaches in the defaults, in conditions,
  /// orders, aggregates and distinct values, for documents that are there and those to come. A null
  /// that is stored stays null, documents come back as they were stored, and unique indexes look at
  /// what is stored. Kept with the collection, which is made if it is not there; empty ones are
  /// none.
  ///
  /// - Throws: ``StoreError``. The defaults are what they were.
  public func setDefaults(_ defaults: DocumentObject) throws {
    try changeSettings { $0.defaults = defaults }
  }
  public func setDefaults(_ defaults: DocumentObject) async throws {
    try await onWriter { try self.setDefaults(defaults) }
  }

  /// Words that stand for other text in query text; none unless set.
  public func aliases() throws -> [String: String] { try settings().aliases }
  public func aliases() async throws -> [String: String] {
    try await onReader { try self.aliases() }
  }

  /// Says which words stand for other text in query text, orders as text and keys of indexes.
  ///
  /// ```swift
  /// try people.setAliases(["lastName": "[user.last_name]"])
  /// try people.find("lastName = ?", "Doe").sorted(byText: "lastName DESC").fetch()
  /// ```
  ///
  /// Words are replaced as ``/NanoQuery/QueryText/replacingAliases(_:in:)`` says, in texts that do
  /// not parse as they stand: a text of fields in brackets costs nothing more, and a word that
  /// query text uses itself keeps its meaning where it has one. Kept with the collection, which is
  /// made if it is not there.
  public func setAliases(_ aliases: [String: String]) throws {
    try changeSettings { $0.aliases = aliases }
  }
  public func setAliases(_ aliases: [String: String]) async throws {
    try await onWriter { try self.setAliases(aliases) }
  }

  /// A text with the aliases of the collection replaced, as ``find(_:_:)`` sees it.
  package func replacingAliases(in text: String) throws -> String {
    QueryText.replacingAliases(try aliases(), in: text)
  }
  package func replacingAliases(in text: String) async throws -> String {
    try await onReader { try self.replacingAliases(in: text) }
  }

  /// Fields of which was said that they will be asked for, in that order.
  public func queryableFields() throws -> [FieldPath] { try settings().queryableFields }
  public func queryableFields() async throws -> [FieldPath] {
    try await onReader { try self.queryableFields() }
  }

  /// Says that fields will be asked for: a list as in `"[city], [address.country]"`, with aliases.
  ///
  /// A hint that is kept and told by ``queryableFields()-()->_``, nothing more: every field can be
  /// asked for without, and an index makes that fast.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is no list of fields.
  public func addQueryableFields(_ text: String) throws {
    let paths = try fields(in: text).map(\.path)
    try changeSettings { settings in
      for path in paths where !settings.queryableFields.contains(path) {
        settings.queryableFields.append(path)
      }
    }
  }
  public func addQueryableFields(_ text: String) async throws {
    try await onWriter { try self.addQueryableFields(text) }
  }
}

extension DocumentCollection {
  func settings() throws -> CollectionSettings {
    try reading(.call) { try $0.settings(of: name) }
  }

  func changeSettings(_ change: (inout CollectionSettings) -> Void) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { writer in
      var settings = try writer.settings(of: name)
      change(&settings)
      try writer.setSettings(settings, of: name)
    }
  }

  /// Reads a text that may hold aliases. They are looked up only if it does not parse without.
  func parsed<Result>(
    _ text: String, _ parse: (String) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let failure: StoreError
    do throws(StoreError) {
      return try parse(text)
    } catch {
      failure = error
    }
    guard failure.code == .invalidQuery else { throw failure }
    let replaced = QueryText.replacingAliases(try aliasesForText(), in: text)
    guard !replaced.utf8.elementsEqual(text.utf8) else { throw failure }
    return try parse(replaced)
  }

  private func aliasesForText() throws(StoreError) -> [String: String] {
    do {
      return try aliases()
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.database, "The aliases of a collection cannot be read")
    }
  }
}
