// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension ModelQuery {
  /// Returns the results as values of a smaller model, whose fields are a subset of the documents'
  /// fields.
  ///
  /// ```swift
  /// @Model struct Name { var firstName: String; var lastName: String }
  /// let names = try people.find(\.age > 30).fetch(as: Name.self)
  /// ```
  ///
  /// Documents are upgraded by the model of the collection, whose former names and defaults apply.
  /// Unknown fields are preserved: saving such a value stores all fields of the document. In the collection that it was
  /// read from, the document keeps its version; elsewhere, it has the version of the smaller model.
  public func fetch<Smaller: Model>(as type: Smaller.Type) throws -> [Smaller] {
    let decoder = collection.decoder
    let smaller = ModelDecoder<Smaller>(collection.name)
    let collectionName = collection.name.folded
    let variants = VariantFields(of: M.fieldTable, readBy: Smaller.fieldTable)
    var models: [Smaller] = []
    try documentQuery().visitStored { stored in
      // All documents are read in the form of one version, which a saved value keeps.
      let version = Swift.max(stored.version ?? 1, decoder.version)
      var plain = stored
      plain.version = smaller.version
      func append(_ plain: StoredDocument) throws {
        var value = try smaller.value(plain)
        if version != smaller.version {
          value._$unknownFields.keep(version: version, in: collectionName)
        }
        models.append(value)
      }
      guard (stored.version ?? 1) < decoder.version || variants.occur(in: stored.body) else {
        try append(plain)
        return true
      }
      var writer = JSONWriter()
      try decoder.value(stored).writeDocument(to: &writer)
      if let failure = writer.failure, !failure.isOfUnknownFields { throw failure }
      plain.body = writer.bytes
      try append(plain)
      return true
    }
    return models
  }
  /// The asynchronous form of ``fetch(as:)``, which does not block the calling thread.
  public func fetch<Smaller: Model>(as type: Smaller.Type) async throws -> sending [Smaller] {
    try await fromReader { try $0.fetch(as: type) }
  }
}

/// The fields that a smaller model reads and that a document can store in another form than the model writes.
private struct VariantFields {
  private var names: [StoredName] = []
  /// Whether the fields can be in nested values.
  private var areNested = false

  init(of table: FieldTable, readBy smaller: FieldTable) {
    for field in table.fields where !field.location.isKey {
      let step = field.location.steps[0]
      let name = ExactName(step.name)
      guard smaller.names.contains(name) else { continue }
      if step.hasVariants || step.hasComputedDefault { names.append(StoredName(step.name)) }
      guard let nested = step.nested else { continue }
      // The same nested model reads former names and defaults itself.
      let isSame = smaller.fields.contains { field in
        let other = field.location.steps[0]
        return ExactName(other.name) == name
          && other.nested.map { ObjectIdentifier($0) } == ObjectIdentifier(nested)
      }
      if !isSame, nested.fieldTable.hasVariants() { areNested = true }
    }
  }

  /// Whether a document stores a field under a former name, or lacks one that has a default.
  func occur(in body: UnsafeRawBufferPointer) -> Bool {
    areNested
      || names.contains { name in
        var reader = JSONReader(body)
        // A damaged document is reported when it is decoded.
        return (try? reader.findField(name)) != true || reader.isNull
      }
  }
}

extension FieldTable {
  /// Whether a document can store a field, or one of a nested value, in another form than the model writes.
  fileprivate func hasVariants(_ outer: Set<ObjectIdentifier> = []) -> Bool {
    // A model can contain itself.
    guard !outer.contains(ObjectIdentifier(self)) else { return false }
    let outer = outer.union([ObjectIdentifier(self)])
    return fields.contains { field in
      let step = field.location.steps[0]
      return step.hasVariants || step.hasComputedDefault
        || step.innerFields?.hasVariants(outer) == true
    }
  }
}
