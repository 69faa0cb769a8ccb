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
    if !declaration.is(VariableDeclSyntax.self) || !isInModel(context.lexicalContext) {
      problems.add(
        .error, node,
        "'@\(node.attributeName.trimmed)' can only be applied to a stored property of a '@Model' type",
        fixes: [.remove(node)])
    }
    problems.emit(context)
    return []
  }

  private static func isInModel(_ enclosingDeclarations: [Syntax]) -> Bool {
    guard let type = enclosingDeclarations.first?.asProtocol((any DeclGroupSyntax).self) else {
      return false
    }
    return type.attributes.contains { $0.name == "Model" }
  }
}
