// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Writes a function that nothing calls: what the compiler finds wrong with the type of a property stands there
/// once, on the property's own line and with its name.
struct CheckRenderer {
  private let model: ModelDeclaration
  private let context: any MacroExpansionContext

  init(_ model: ModelDeclaration, _ context: some MacroExpansionContext) {
    self.model = model
    self.context = context
  }

  /// Nil if the names of the types say that nothing is wrong.
  var function: DeclSyntax? {
    let checks = model.properties.flatMap(checks)
    guard !checks.isEmpty else { return nil }
    return """
      nonisolated private static func _$check() {
      \(raw: checks.joined(separator: "\n"))
      }
      """
  }

  private func checks(_ property: StoredProperty) -> [String] {
    if let relationship = property.relationship { return check(relationship, property) }
    let type = NamedType(property.type)
    let text = property.type.wrapped ?? property.type.text
    let name = property.name.trimmingBackticks
    if property.isKey {
      guard type.isKey == nil else { return [] }
      return [
        check(
          property, "key(\(FieldText.metatype(text)))",
          "its type '\(text)' cannot be a key; a key is a String, UUID, Int, Int64 or a type that conforms to ModelKey"
        )
      ]
    }
    var checks: [String] = []
    if !type.isSurelyStored {
      let advice =
        "make \(type.name) Codable or a '@Model' struct, or mark '\(name)' with "
        + (model.isClass ? "'@Relationship' or '@Inverse' if it leads to objects, or " : "")
        + "'@Transient'"
      checks.append(
        check(
          property, "stored(\(FieldText.metatype(text)))",
          "documents cannot hold its type '\(text)'; \(advice)"))
    }
    if property.isMarked("TextIndexed"), type.hasText == nil {
      checks.append(
        check(
          property, "text(\(FieldText.metatype(text)))",
          "a text index finds nothing in its type '\(text)'; '@TextIndexed' is for strings, lists of strings and types that conform to TextIndexable"
        ))
    }
    return checks
  }

  private func check(
    _ relationship: RelationshipDeclaration, _ property: StoredProperty
  ) -> [String] {
    guard let path = relationship.inversePath, let inverse = relationship.inverse else { return [] }
    return [
      check(
        property,
        "inverse(\(path), \(relationship.target).self, \(model.name).self)",
        "'\(inverse)' of \(relationship.target) does not lead back to \(model.name); declare it there as '@Inverse var \(inverse): [\(model.name)]' or '\(model.name)?'"
      )
    ]
  }

  /// - Parameter check: A call that passes or fails, by the type of its result.
  private func check(_ property: StoredProperty, _ check: String, _ message: String) -> String {
    // A statement of its own, or the compiler would choose among the checks the one that passes.
    let call = "\(property.name)(_$found)"
    let place = context.location(
      of: property.declaration, at: .afterLeadingTrivia, filePathMode: .filePath)
    // The compiler reports what it finds in the line that the directive says.
    let located =
      place.map {
        "#sourceLocation(file: \($0.file), line: \($0.line))\n\(call)\n#sourceLocation()"
      }
      ?? call
    return """
      do {
      let _$found = NanoStoreModels.PropertyCheck.\(check)
      @available(*, unavailable, message: \(FieldText.literal(message)))
      func \(property.name)(_: NanoStoreModels.PropertyCheck.Failed) {}
      func \(property.name)(_: NanoStoreModels.PropertyCheck.Passed) {}
      \(located)
      }
      """
  }
}
