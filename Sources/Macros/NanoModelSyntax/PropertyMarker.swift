// SPDX-License-Identifier: MIT

package import SwiftSyntax
package import SwiftSyntaxMacros

/// `@Field`, `@Indexed` and the like: they write nothing, and are read by ``ModelMacroImplementation``.
package protocol PropertyMarkerImplementation: PeerMacro {}

extension PropertyMarkerImplementation {
  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var problems = Problems()
    if !declaration.is(VariableDeclSyntax.self) || !isInModel(context.lexicalContext) {
      problems.add(
        .error, node, "'@\(node.attributeName.trimmed)' belongs to a stored property of a '@Model'",
        fixes: [.remove(node)])
    }
    problems.tell(context)
    return []
  }

  private static func isInModel(_ surroundings: [Syntax]) -> Bool {
    guard let type = surroundings.first?.asProtocol((any DeclGroupSyntax).self) else {
      return false
    }
    return type.attributes.contains { $0.name == "Model" }
  }
}
