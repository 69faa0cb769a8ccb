// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoQuery

/// What a collection's questions are asked with, kept with the collection: it counts after
/// reopening and for every process.
package struct CollectionSettings: Sendable, Hashable {
  /// Values that conditions, orders and aggregates take for fields that a document does not have.
  /// Documents are given back as they were stored. Engines apply them.
  package var defaults: DocumentObject
  /// Words that stand for other text in query text, such as `last` for `[user.last_name]`.
  package var aliases: [String: String]
  /// Fields of which is known that they will be asked for. Nothing is built for them: a hint for
  /// those who choose indexes.
  package var queryableFields: [FieldPath]

  package init(
    defaults: DocumentObject = [:], aliases: [String: String] = [:],
    queryableFields: [FieldPath] = []
  ) {
    self.defaults = defaults
    self.aliases = aliases
    self.queryableFields = queryableFields
  }

  /// Whether they say nothing, as those of a new collection.
  /// By UTF-8 bytes, also where `String` takes two texts for equal: what differs is to be stored.
  package static func == (a: CollectionSettings, b: CollectionSettings) -> Bool {
    a.defaults == b.defaults && a.queryableFields == b.queryableFields
      && a.exactAliases == b.exactAliases
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(defaults)
    hasher.combine(exactAliases)
    hasher.combine(queryableFields)
  }

  private var exactAliases: [ExactName: ExactName] {
    aliases.byExactName.mapValues { ExactName($0) }
  }

  package var isEmpty: Bool { self == CollectionSettings() }

  /// Throws if a path is none.
  package func validate() throws(StoreError) { for path in queryableFields { try path.validate() } }
}

extension CollectionSettings {
  /// As one object, for engines to keep.
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
    return object
  }

  /// What was kept as an object; what it does not know is left out.
  package init(_ object: DocumentObject) {
    self.init(
      defaults: object["defaults"]?.object ?? [:],
      aliases: Dictionary(
        (object["aliases"]?.object ?? [:]).compactMap { field in
          field.value.string.map { (field.name, $0) }
        }, uniquingKeysWith: { $1 }),
      queryableFields: (object["queryableFields"]?.array ?? []).compactMap(\.string)
        .map { FieldPath($0) })
  }
}
