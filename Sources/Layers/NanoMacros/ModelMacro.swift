// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Writes the conformance to `Model`: the declaration is parsed, checked, and rendered.
///
/// What is wrong is told by the part that adds members, since the compiler asks for both parts.
enum ModelMacro {}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    let model = ModelDeclaration(declaration, node, &problems)
    problems.tell(context)
    guard let model, !problems.hasErrors else { return [] }
    let unknown: DeclSyntax =
      "\(raw: model.access)var _$unknownFields = NanoStoreModels.UnknownFields()"
    // An initializer of a class that is not a convenience must stand in it.
    return model.isClass ? [unknown] + ReaderRenderer(model).initializers : [unknown]
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var problems = Problems()
    guard let model = ModelDeclaration(declaration, node, &problems), !problems.hasErrors else {
      return []
    }
    let reader = ReaderRenderer(model)
    let members =
      DescriptionRenderer(model).members + WriterRenderer(model).members
      + (model.isClass ? [] : reader.initializers) + reader.anyOrder
    let text = members.map { "\($0)" }.joined(separator: "\n\n")
    let conformance = protocols.isEmpty ? "" : ": NanoStoreModels.Model"
    return [
      try ExtensionDeclSyntax(
        "nonisolated extension \(type.trimmed)\(raw: conformance) {\n\(raw: text)\n}")
    ]
  }
}
