// SPDX-License-Identifier: MIT

package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// Makes a property of an object one that is loaded when it is looked at and that tells before it changes.
///
/// The value stands in a property beside it, which is nil in an object whose content is not loaded.
package protocol TrackedPropertyImplementation: AccessorMacro, PeerMacro {}

extension TrackedPropertyImplementation {
  package static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    property(declaration).map { AccessorRenderer.accessors(of: $0) } ?? []
  }

  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    property(declaration).map { [AccessorRenderer.storage(of: $0)] } ?? []
  }

  /// What is wrong with the property, the model tells.
  private static func property(_ declaration: some DeclSyntaxProtocol) -> StoredProperty? {
    guard let variable = declaration.as(VariableDeclSyntax.self) else { return nil }
    var problems = Problems()
    let property = PropertyParser(variable, isInClass: true).properties(&problems).stored.first
    return problems.hasErrors ? nil : property
  }
}

/// `@Relationship` and `@Inverse`: the same for properties that lead to other objects.
package protocol RelationshipImplementation: AccessorMacro, PeerMacro {}

extension RelationshipImplementation {
  package static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    var problems = Problems()
    guard let variable = declaration.as(VariableDeclSyntax.self), isInClass(context),
      let relationship = RelationshipDeclaration(variable, &problems)
    else { return [] }
    return AccessorRenderer.accessors(of: relationship)
  }

  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    guard let variable = declaration.as(VariableDeclSyntax.self), isInClass(context) else {
      problems.add(
        .error, node,
        "'@\(node.attributeName.trimmed)' belongs to a stored property of a class that is a '@Model'",
        fixes: [.remove(node)])
      problems.tell(context)
      return []
    }
    var silent = Problems()
    return RelationshipDeclaration(variable, &silent).map { [AccessorRenderer.storage(of: $0)] }
      ?? []
  }

  private static func isInClass(_ context: some MacroExpansionContext) -> Bool {
    guard let type = context.lexicalContext.first?.as(ClassDeclSyntax.self) else { return false }
    return type.attributes.contains { $0.name == "Model" }
  }
}
