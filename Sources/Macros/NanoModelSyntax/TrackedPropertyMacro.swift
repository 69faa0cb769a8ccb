// SPDX-License-Identifier: MIT

package import SwiftSyntax
package import SwiftSyntaxMacros

/// Adds accessors to a property of an object, which load the object on first access and report changes in advance.
///
/// The value is in a separate storage property, which is nil while the object is a fault.
package protocol TrackedPropertyImplementation: AccessorMacro, PeerMacro {}

extension TrackedPropertyImplementation {
  package static var formatMode: FormatMode { .disabled }

  package static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    property(declaration).map {
      AccessorRenderer.accessors(of: $0).map(AccessorDeclSyntax.init(unparsed:))
    } ?? []
  }

  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    property(declaration).map { [DeclSyntax(unparsed: AccessorRenderer.storage(of: $0))] } ?? []
  }

  /// Returns the parsed property, or nil if it has errors, which the model reports.
  private static func property(_ declaration: some DeclSyntaxProtocol) -> StoredProperty? {
    guard let variable = declaration.as(VariableDeclSyntax.self) else { return nil }
    var problems = Problems()
    let parser = PropertyParser(variable, isInClass: true)
    let property = parser.properties(&problems).stored.first ?? parser.transient
    return problems.hasErrors ? nil : property
  }
}

/// `@Relationship` and `@Inverse`, which add such accessors to properties that refer to other objects.
package protocol RelationshipImplementation: AccessorMacro, PeerMacro {}

extension RelationshipImplementation {
  package static var formatMode: FormatMode { .disabled }

  package static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    var problems = Problems()
    guard let variable = declaration.as(VariableDeclSyntax.self), isInClass(context),
      let relationship = RelationshipDeclaration(variable, &problems)
    else { return [] }
    return AccessorRenderer.accessors(of: relationship).map(AccessorDeclSyntax.init(unparsed:))
  }

  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    guard let variable = declaration.as(VariableDeclSyntax.self), isInClass(context) else {
      problems.addMisplaced(node, expected: "class")
      problems.emit(context)
      return []
    }
    var silent = Problems()
    return RelationshipDeclaration(variable, &silent)
      .map { [DeclSyntax(unparsed: AccessorRenderer.storage(of: $0))] } ?? []
  }

  private static func isInClass(_ context: some MacroExpansionContext) -> Bool {
    context.enclosingModel?.is(ClassDeclSyntax.self) == true
  }
}
