// SPDX-License-Identifier: MIT

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What is wrong with a declaration.
struct Problems {
  private(set) var all: [Diagnostic] = []

  var hasErrors: Bool { all.contains { $0.diagMessage.severity == .error } }

  mutating func add(
    _ severity: DiagnosticSeverity, _ node: some SyntaxProtocol, _ message: String,
    fixes: [Fix] = []
  ) {
    all.append(
      Diagnostic(
        node: node, message: Message(message: message, severity: severity),
        fixIts: fixes.map(\.fixIt)))
  }

  func tell(_ context: some MacroExpansionContext) { all.forEach(context.diagnose) }

  private struct Message: DiagnosticMessage {
    let message: String
    let severity: DiagnosticSeverity
    var diagnosticID: MessageID { MessageID(domain: "NanoStoreModels", id: message) }
  }
}

/// A change of the source that mends a problem.
struct Fix {
  let message: String
  let changes: [FixIt.Change]

  var fixIt: FixIt { FixIt(message: Message(message: message), changes: changes) }

  private struct Message: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "NanoStoreModels", id: message) }
  }

  static func replace(_ old: some SyntaxProtocol, _ new: some SyntaxProtocol, _ message: String)
    -> Fix
  {
    Fix(message: message, changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }

  /// Takes away an attribute and the space after it.
  ///
  /// The attribute alone is replaced: what a macro is given of itself stands in no declaration.
  static func remove(_ attribute: AttributeSyntax) -> Fix {
    let nothing = TokenSyntax(
      .identifier(""), leadingTrivia: attribute.leadingTrivia, presence: .present)
    return .replace(attribute, nothing, "remove '@\(attribute.attributeName.trimmed)'")
  }

  /// Puts an attribute before a property.
  static func attribute(_ name: String, _ variable: VariableDeclSyntax) -> Fix {
    var marked = variable.detached
    let lead = marked.leadingTrivia
    marked.leadingTrivia = []
    let attribute = AttributeSyntax(TypeSyntax(IdentifierTypeSyntax(name: .identifier(name))))
    marked.attributes.insert(
      .attribute(attribute.with(\.trailingTrivia, .space)), at: marked.attributes.startIndex)
    marked.leadingTrivia = lead
    return .replace(variable, marked, "add '@\(name)'")
  }
}

extension AttributeListSyntax.Element {
  /// The name of an attribute, without the module.
  var name: String? {
    guard case .attribute(let attribute) = self else { return nil }
    return attribute.shortName
  }
}

extension AttributeSyntax {
  var shortName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }
}
