// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoQuery

/// The settings that apply to a collection's queries.
///
/// They are stored with the collection: they persist across reopening and apply to every process.
package struct CollectionSettings: Sendable, Hashable {
  /// Values that conditions, orderings, and aggregates use for fields that a document does not have. Documents
  /// are returned as they were stored. Engines apply the defaults.
  package var defaults: DocumentObject
  /// Words that stand for other text in query text, such as `last` for `[user.last_name]`.
  package var aliases: [String: String]
  /// Fields that are expected to be queried. Nothing is built for them: they are a hint for adaptive indexing
  /// and for the people who choose indexes.
  package var queryableFields: [FieldPath]
  /// When written documents expire; `nil` if they do not unless they are given an expiration. Setting a rule applies it
  /// to the existing documents, as if they were written then. Removing it removes the expirations of all documents.
  package var expiration: ExpirationRule?

  package init(
    defaults: DocumentObject = [:], aliases: [String: String] = [:],
    queryableFields: [FieldPath] = [], expiration: ExpirationRule? = nil
  ) {
    self.expiration = expiration
    self.defaults = defaults
    self.aliases = aliases
    self.queryableFields = queryableFields
  }

  /// Compares aliases by UTF-8 bytes, even where `String` considers two texts equal: any difference must be
  /// stored.
  package static func == (a: CollectionSettings, b: CollectionSettings) -> Bool {
    a.defaults == b.defaults && a.queryableFields == b.queryableFields
      && a.exactAliases == b.exactAliases && a.expiration == b.expiration
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(defaults)
    hasher.combine(exactAliases)
    hasher.combine(queryableFields)
    hasher.combine(expiration)
  }

  private var exactAliases: [ExactName: ExactName] {
    aliases.byExactName.mapValues { ExactName($0) }
  }

  /// Whether the settings are those of a new collection.
  package var isEmpty: Bool { self == CollectionSettings() }

  /// - Throws: ``StoreError`` if a path or the expiration rule is invalid.
  package func validate() throws(StoreError) {
    for path in queryableFields { try path.validate() }
    try expiration?.validate()
  }
}

extension CollectionSettings {
  /// The settings as one object, the form in which engines store them.
  package var object: DocumentObject {
    var object = DocumentObject()
    if !defaults.isEmpty { object["defaults"] = .object(defaults) }
    if !aliases.isEmpty {
      let pairs = aliases.sorted { $0.key.isBefore($1.key) }.map {
        ($0.key, DocumentValue.string($0.value))
      }
      object["aliases"] = .object(DocumentObject(pairs))
    }
    if !queryableFields.isEmpty {
      object["queryableFields"] = .array(queryableFields.map { .string($0.description) })
    }
    if let expiration { object["expiration"] = .object(expiration.object) }
    return object
  }

  /// Reads settings from their stored form, ignoring unknown entries.
  package init(_ object: DocumentObject) {
    self.init(
      defaults: object["defaults"]?.object ?? [:],
      aliases: Dictionary(
        (object["aliases"]?.object ?? [:]).compactMap { field in
          field.value.string.map { (field.name, $0) }
        }, uniquingKeysWith: { $1 }),
      queryableFields: (object["queryableFields"]?.array ?? []).compactMap(\.string)
        .map { FieldPath($0) },
      expiration: object["expiration"]?.object.flatMap { ExpirationRule($0) })
  }
}
