// SPDX-License-Identifier: MIT

package import SwiftSyntax
package import SwiftSyntaxMacros

/// Generates the conformance to `Model`: parses, checks and renders the declaration.
///
/// The compiler runs both the member and the extension expansion. Diagnostics are emitted by the member expansion,
/// except for enums, where the extension expansion emits them.
///
/// Generated code that repeats types and values of properties is a member of the type itself, since only there do
/// names resolve as they do in the property declarations. Initializers of structs are in the extension, because an
/// initializer in the struct would suppress the memberwise initializer.
package protocol ModelMacroImplementation: MemberMacro, MemberAttributeMacro, ExtensionMacro {}

extension ModelMacroImplementation {
  package static var formatMode: FormatMode { .disabled }

  package static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    let model = ModelDeclaration(declaration, node, context.lexicalContext, &problems)
    if !isReportedByExtension(declaration) { problems.emit(context) }
    guard let model, !problems.hasErrors else {
      return declaration.as(ClassDeclSyntax.self)
        .map { ObjectRenderer.placeholders(in: $0.name.text).map(DeclSyntax.init(unparsed:)) } ?? []
    }
    let unknown = "\(model.access)var _$unknownFields = NanoStoreModels.UnknownFields()"
    let reader = ReaderRenderer(model)
    let object =
      model.isClass ? reader.initializers + ObjectRenderer(model, model.name).members : []
    let check = CheckRenderer(model, context).function
    var members: [String] = [unknown] + object + reader.members
    if let check { members.append(check) }
    members += DescriptionRenderer(model).fields
    return members.map(DeclSyntax.init(unparsed:))
  }

  /// Returns whether the extension expansion emits the diagnostics.
  ///
  /// The compiler expands the members of an enum only if a name lookup requires them.
  private static func isReportedByExtension(_ declaration: some DeclGroupSyntax) -> Bool {
    declaration.is(EnumDeclSyntax.self)
  }

  /// Adds accessors to the properties of objects, which load on first access and report changes in advance.
  package static func expansion(
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

  package static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var problems = Problems()
    let parsed = ModelDeclaration(declaration, node, context.lexicalContext, &problems)
    if isReportedByExtension(declaration) { problems.emit(context) }
    guard let model = parsed, !problems.hasErrors else { return [] }
    let mirror =
      protocols.contains { $0.trimmedDescription.hasSuffix("CustomReflectable") }
      ? MirrorRenderer(model).member : nil
    let members =
      DescriptionRenderer(model).members + WriterRenderer(model).members
      + (mirror.map { [$0] } ?? [])
      + (model.isClass
        ? ObjectRenderer(model, type.trimmedDescription).relationships
        : ReaderRenderer(model).initializers)
    var conformances: [String] = []
    if protocols.contains(where: { $0.trimmedDescription.hasSuffix("Model") }) {
      conformances.append("NanoStoreModels.Model")
      if model.key != nil { conformances.append("NanoStoreModels.KeyedModel") }
      if model.isClass { conformances.append("NanoStoreModels.GraphObject") }
    }
    if mirror != nil { conformances.append("Swift.CustomReflectable") }
    let conformance = conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
    return [
      ExtensionDeclSyntax(
        unparsed: """
          \(model.availability)nonisolated extension \(type.trimmedDescription)\(conformance) {
          \(members.joined(separator: "\n\n"))
          }
          """)
    ]
  }
}
