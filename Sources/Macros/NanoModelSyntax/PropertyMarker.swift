// SPDX-License-Identifier: MIT

package import SwiftSyntax
package import SwiftSyntaxMacros

/// `@Field`, `@Indexed` and similar attributes, which expand to nothing and are read by ``ModelMacroImplementation``.
package protocol PropertyMarkerImplementation: PeerMacro {}

extension PropertyMarkerImplementation {
  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    if !declaration.is(VariableDeclSyntax.self) || context.enclosingModel == nil {
      problems.addMisplaced(node, expected: "type")
    }
    problems.emit(context)
    return []
  }
}

extension MacroExpansionContext {
  /// The `@Model` type that a macro is expanded in; nil in other declarations.
  var enclosingModel: (any DeclGroupSyntax)? {
    let type = lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
    return type?.attributes.contains { $0.name == "Model" } == true ? type : nil
  }
}

extension Problems {
  /// Adds the error for an attribute that is not on a stored property of a model.
  ///
  /// - Parameter expected: What the model has to be: a type or a class.
  mutating func addMisplaced(_ attribute: AttributeSyntax, expected: String) {
    add(
      .error, attribute,
      "'@\(attribute.attributeName.trimmed)' can only be applied to a stored property of a '@Model' \(expected)",
      fixes: [.remove(attribute)])
  }
}
