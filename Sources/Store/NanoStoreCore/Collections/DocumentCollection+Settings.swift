// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension DocumentCollection {
  /// Returns the default values for fields that a document does not have; empty unless set.
  public func defaults() throws -> DocumentObject { try settings().defaults }
  /// The asynchronous form of `defaults()`, which does not block the calling thread.
  public func defaults() async throws -> DocumentObject {
    try await onReader { try self.defaults() }
  }

  /// Sets default values that queries use for fields that a document does not have.
  ///
  /// ```swift
  /// try people.insert(["name": "Ada"])
  /// try people.setDefaults(["active": true, "address": ["country": "US"]])
  /// try people.find("[active] AND [address.country] = 'US'").count()   // 1
  /// try people.find().first()                                          // {"name":"Ada"}
  /// ```
  ///
  /// Where a path finds nothing in a document, its value in the defaults is used instead: in
  /// conditions, orderings, aggregates and distinct values, for existing and future documents. A
  /// stored null stays null, documents are returned as they were stored, and unique indexes
  /// consider only stored values. The defaults are stored with the collection, which is created if
  /// needed. An empty object removes them.
  ///
  /// - Throws: ``StoreError``. The defaults are unchanged.
  public func setDefaults(_ defaults: DocumentObject) throws {
    try changeSettings { $0.defaults = defaults }
  }
  /// The asynchronous form of `setDefaults(_:)`, which does not block the calling thread.
  public func setDefaults(_ defaults: DocumentObject) async throws {
    try await onWriter { try self.setDefaults(defaults) }
  }

  /// Returns the aliases: words that are replaced by other text in query text; empty unless set.
  public func aliases() throws -> [String: String] { try settings().aliases }
  /// The asynchronous form of `aliases()`, which does not block the calling thread.
  public func aliases() async throws -> [String: String] {
    try await onReader { try self.aliases() }
  }

  /// Sets aliases: words that are replaced by other text in query text, textual orderings and index
  /// keys.
  ///
  /// ```swift
  /// try people.setAliases(["lastName": "[user.last_name]"])
  /// try people.find("lastName = ?", "Doe").sorted(byText: "lastName DESC").fetch()
  /// ```
  ///
  /// Replacement follows ``/NanoQuery/QueryText/replacingAliases(_:in:)`` and applies only to text
  /// that does not parse unchanged. Text with fields in brackets therefore costs nothing extra, and
  /// the keywords of query text keep their meaning wherever they are valid. The aliases are stored
  /// with the collection, which is created if needed.
  public func setAliases(_ aliases: [String: String]) throws {
    try changeSettings { $0.aliases = aliases }
  }
  /// The asynchronous form of `setAliases(_:)`, which does not block the calling thread.
  public func setAliases(_ aliases: [String: String]) async throws {
    try await onWriter { try self.setAliases(aliases) }
  }

  /// Returns a text with the aliases of the collection replaced, as ``find(_:_:)`` sees it.
  package func replacingAliases(in text: String) throws -> String {
    QueryText.replacingAliases(try aliases(), in: text)
  }
  /// The asynchronous form of `replacingAliases(in:)`, which does not block the calling thread.
  package func replacingAliases(in text: String) async throws -> String {
    try await onReader { try self.replacingAliases(in: text) }
  }

  /// Returns the fields declared as queryable, in order of declaration.
  public func queryableFields() throws -> [FieldPath] { try settings().queryableFields }
  /// The asynchronous form of `queryableFields()`, which does not block the calling thread.
  public func queryableFields() async throws -> [FieldPath] {
    try await onReader { try self.queryableFields() }
  }

  /// Declares fields as queryable, given as a list such as `"[city], [address.country]"`, which may
  /// contain aliases.
  ///
  /// This is only a hint, stored with the collection and returned by ``queryableFields()-()->_``.
  /// Every field can be queried without it; to make queries fast, create an index.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is not a list of fields.
  public func addQueryableFields(_ text: String) throws {
    let paths = try fields(in: text).map(\.path)
    try changeSettings { settings in
      for path in paths where !settings.queryableFields.contains(path) {
        settings.queryableFields.append(path)
      }
    }
  }
  /// The asynchronous form of `addQueryableFields(_:)`, which does not block the calling thread.
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

  /// Parses a text that may contain aliases. The aliases are read only if the text does not parse
  /// without them.
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
