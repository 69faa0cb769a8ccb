// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxMacros

/// Renders a function that is never called, but makes the compiler check the types of properties.
///
/// The compiler reports each problem once, on the line of the property and with its name.
struct CheckRenderer {
  private let model: ModelDeclaration
  private let context: any MacroExpansionContext

  init(_ model: ModelDeclaration, _ context: some MacroExpansionContext) {
    self.model = model
    self.context = context
  }

  /// The function, or nil if the names of all types show that they are valid.
  var function: String? {
    let checks = model.properties.flatMap(checks) + model.customized.map(check)
    guard !checks.isEmpty else { return nil }
    return """
      nonisolated private static func _$check() {
      \(checks.joined(separator: "\n"))
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
          "its type '\(text)' cannot be a key; use String, UUID, Int, Int64 or a type that conforms to ModelKey"
        )
      ]
    }
    var checks: [String] = []
    if !type.isSurelyStored {
      let advice =
        Self.advice(type) + ", or mark '\(name)' with "
        + (model.isClass && !type.isScalar
          ? "'@Relationship' or '@Inverse' if it refers to objects, or " : "") + "'@Transient'"
      checks.append(
        check(
          property, "stored(\(FieldText.metatype(text)))",
          "documents cannot store its type '\(text)'; \(advice)"))
    }
    if property.isMarked("TextIndexed"), type.hasText == nil {
      checks.append(
        check(
          property, "text(\(FieldText.metatype(text)))",
          "its type '\(text)' contains no text to index; '@TextIndexed' requires a string, a collection of strings or a type that conforms to TextIndexable"
        ))
    }
    return checks
  }

  /// Returns what makes a type storable: of a dictionary with keys and values of types that the
  /// macro does not know, both must be `Codable`.
  private static func advice(_ type: NamedType) -> String {
    let keys = type.unknownKeys.joined(separator: " and ")
    if keys.isEmpty { return "make \(type.name) Codable or a '@Model' struct" }
    return type.isScalar
      ? "make the key type \(keys) Codable" : "make \(keys) and \(type.name) Codable"
  }

  private func check(
    _ relationship: RelationshipDeclaration, _ property: StoredProperty
  ) -> [String] {
    guard let path = relationship.inversePath, let inverse = relationship.inverse else { return [] }
    return [
      check(
        property,
        "inverse(\(path), \(relationship.target).self, \(model.name).self)",
        "'\(inverse)' of \(relationship.target) is not an inverse to \(model.name); declare it there as '@Inverse var \(inverse): [\(model.name)]' or '\(model.name)?'"
      )
    ]
  }

  private func check(_ member: CustomizedMember) -> String {
    let type = model.isClass ? model.name : "Self"
    let required = FieldText.metatype(member.qualifiedType(in: type))
    return """
      do {
      var _$member = \(type).\(member.name)
      \(check(
        member.name, at: member.declaration, "has(&_$member, as: \(required))",
        "it must have the type '\(member.type)', or it is not used"))
      }
      """
  }

  private func check(_ property: StoredProperty, _ check: String, _ message: String) -> String {
    self.check(property.name, at: property.declaration, check, message)
  }

  /// Returns the code for one check.
  ///
  /// - Parameter check: A call whose result type determines whether the check passes.
  private func check(
    _ name: String, at declaration: Syntax, _ check: String, _ message: String
  ) -> String {
    // A separate statement, or overload resolution would choose the check that passes.
    let call = "\(name)(_$found)"
    let location = context.location(
      of: declaration, at: .afterLeadingTrivia, filePathMode: .filePath)
    // The directive makes the compiler report errors on the line of the property.
    let located =
      location.map {
        "#sourceLocation(file: \($0.file), line: \($0.line))\n\(call)\n#sourceLocation()"
      }
      ?? call
    return """
      do {
      let _$found = NanoStoreModels.PropertyCheck.\(check)
      @available(*, unavailable, message: \(FieldText.literal(message)))
      func \(name)(_: NanoStoreModels.PropertyCheck.Failed) {}
      func \(name)(_: NanoStoreModels.PropertyCheck.Passed) {}
      \(located)
      }
      """
  }
}
