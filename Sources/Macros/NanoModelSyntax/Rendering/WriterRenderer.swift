// SPDX-License-Identifier: MIT

/// Renders the function that encodes a value.
///
/// Field names are constants that include their punctuation. Until the first field that is always written, the comma
/// is omitted at run time if the object is still empty.
struct WriterRenderer {
  private let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  var members: [String] {
    let access = model.access
    if model.isClass {
      return [
        "\(access)func write(to writer: inout NanoStoreModels.JSONWriter) { NanoStoreModels.ModelCoding.rejectEmbedding(Self.self, &writer) }",
        "\(access)func writeDocument(to writer: inout NanoStoreModels.JSONWriter) { _$write(to: &writer, isDocument: true) }",
        "\(access)func _$writeSnapshot(to writer: inout NanoStoreModels.JSONWriter) { _$write(to: &writer, isDocument: false) }",
        """
        private func _$write(to writer: inout NanoStoreModels.JSONWriter, isDocument: Swift.Bool) {
        if _$object.isFault { _$load() }
        \(body)
        }
        """,
      ]
    }
    guard model.key != nil else {
      return [
        """
        \(access)func write(to writer: inout NanoStoreModels.JSONWriter) {
        \(body)
        }
        """
      ]
    }
    // The key is separate from the fields of a document, but is a field if the value is nested in another value.
    return [
      "\(access)func write(to writer: inout NanoStoreModels.JSONWriter) { _$write(to: &writer, isDocument: false) }",
      "\(access)func writeDocument(to writer: inout NanoStoreModels.JSONWriter) { _$write(to: &writer, isDocument: true) }",
      """
      private func _$write(to writer: inout NanoStoreModels.JSONWriter, isDocument: Swift.Bool) {
      \(body)
      }
      """,
    ]
  }

  private var body: String {
    var lines = ["guard writer.enter() else { return }"]
    var hasFields = false
    for (index, property) in model.properties.enumerated() {
      let isFirst = index == 0 && property.isAlwaysWritten && !property.isKey
      if index == 0, !isFirst { lines.append("writer.literal(\"{\")") }
      let opening =
        isFirst
        ? "writer.literal(\(FieldText.opening(property, "{")))"
        : "writer.\(hasFields ? "literal" : "fieldLiteral")(\(FieldText.opening(property)))"
      lines.append(write(property, opening))
      hasFields = hasFields || (property.isAlwaysWritten && !property.isKey)
    }
    lines += ["self._$unknownFields.write(to: &writer)", "writer.literal(\"}\")", "writer.leave()"]
    return lines.joined(separator: "\n")
  }

  private func write(_ property: StoredProperty, _ opening: String) -> String {
    let value = property.value
    if let relationship = property.relationship {
      let text = "\(opening)\n\(value).write(to: &writer, isDocument: isDocument)"
      return relationship.isToMany ? text : "if !\(value).isMissing {\n\(text)\n}"
    }
    if property.isKey {
      let text = "\(opening)\n\(code(property.type.text, value))"
      return property.type.isOptional
        ? "if !isDocument, \(value) != nil {\n\(text)\n}" : "if !isDocument {\n\(text)\n}"
    }
    switch property.absence {
    case .null:
      let type = property.type.wrapped ?? property.type.text
      return "if let value = \(value) {\n\(opening)\n\(code(type, "value"))\n}"
    case .dependsOnType where property.isTracked:
      // The value is nil if the content could not be loaded and the type has no placeholder.
      return """
        if let value = self.\(property.storageName), !NanoStoreModels.ModelCoding.isMissing(value) {
        \(opening)
        \(code(property.type.text, "value"))
        }
        """
    case .dependsOnType:
      return """
        if !NanoStoreModels.ModelCoding.isMissing(\(value)) {
        \(opening)
        \(code(property.type.text, value))
        }
        """
    case .value:
      // Null is written explicitly, since a missing field would be read as the initial value.
      guard let wrapped = property.type.wrapped else { fallthrough }
      return """
        \(opening)
        if let value = \(value) {
        \(code(wrapped, "value"))
        } else {
        writer.null()
        }
        """
    case .error:
      return "\(opening)\n\(code(property.type.text, value))"
    }
  }

  private func code(_ type: String, _ value: String) -> String {
    PlainCoding(type)?.write(value)
      ?? "NanoStoreModels.ModelCoding.write(\(value), &writer)"
  }
}
