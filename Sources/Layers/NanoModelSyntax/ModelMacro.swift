// SPDX-License-Identifier: MIT

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Writes the conformance to `Model`: the declaration is parsed, checked, and rendered.
///
/// What is wrong is told by the part that adds members, since the compiler asks for both parts.
///
/// Whatever repeats types and values of properties is a member of the type itself: only there do names mean
/// what they mean where the properties are declared. Initializers of structs stand in the extension, since
/// one in the struct would take away the one that the compiler writes.
public protocol ModelMacroImplementation: MemberMacro, MemberAttributeMacro, ExtensionMacro {}

extension ModelMacroImplementation {
  public static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    let model = ModelDeclaration(declaration, node, context.lexicalContext, &problems)
    problems.tell(context)
    guard let model, !problems.hasErrors else { return [] }
    let unknown: DeclSyntax =
      "\(raw: model.access)var _$unknownFields = NanoStoreModels.UnknownFields()"
    let reader = ReaderRenderer(model)
    let object =
      model.isClass ? reader.initializers + ObjectRenderer(model, model.name).members : []
    return [unknown] + object + reader.members
  }

  /// Properties of objects are loaded when they are looked at, and tell before they change.
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) -> [AttributeSyntax] {
    guard declaration.is(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self),
      PropertyParser(variable, isInClass: true).isTracked
    else { return [] }
    var problems = Problems()
    _ = PropertyParser(variable, isInClass: true).properties(&problems)
    return problems.hasErrors ? [] : ["@NanoStoreModels._TrackedProperty"]
  }

  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var problems = Problems()
    let parsed = ModelDeclaration(declaration, node, context.lexicalContext, &problems)
    guard let model = parsed, !problems.hasErrors else { return [] }
    let members =
      DescriptionRenderer(model, type).members + WriterRenderer(model).members
      + (model.isClass
        ? ObjectRenderer(model, type.trimmedDescription).relationships
        : ReaderRenderer(model).initializers)
    let text = members.map { "\($0)" }.joined(separator: "\n\n")
    let conformance =
      protocols.isEmpty
      ? ""
      : ": NanoStoreModels.Model" + (model.key == nil ? "" : ", NanoStoreModels.KeyedModel")
        + (model.isClass ? ", NanoStoreModels.GraphObject" : "")
    return [
      try ExtensionDeclSyntax(
        """
        \(raw: model.availability)nonisolated extension \(type.trimmed)\(raw: conformance) {
        \(raw: text)
        }
        """)
    ]
  }
}
