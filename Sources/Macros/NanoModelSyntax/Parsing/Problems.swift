// SPDX-License-Identifier: MIT

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What is wrong with a declaration.
struct Problems {
  private(set) var all: [Diagnostic] = []

  /// Whether there is an error with which nothing can be written. Where something can, other code that uses the type
  /// causes no errors of its own.
  private(set) var hasErrors = false

  /// - Parameter blocks: Whether the error is one with which nothing can be written.
  mutating func add(
    _ severity: DiagnosticSeverity, _ node: some SyntaxProtocol, _ message: String,
    fixes: [Fix] = [], blocks: Bool = true
  ) {
    if severity == .error, blocks { hasErrors = true }
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

  /// Gives an attribute another name.
  static func rename(_ attribute: AttributeSyntax, to name: String) -> Fix {
    var renamed = attribute.detached
    renamed.attributeName = TypeSyntax(
      IdentifierTypeSyntax(
        leadingTrivia: attribute.attributeName.leadingTrivia, name: .identifier(name),
        trailingTrivia: attribute.attributeName.trailingTrivia))
    renamed.leadingTrivia = attribute.leadingTrivia
    return .replace(
      attribute, renamed, "replace '@\(attribute.attributeName.trimmed)' with '@\(name)'")
  }

  /// Takes an argument of an attribute away, with the attribute if it has no other.
  static func remove(
    argument index: Int, of attribute: AttributeSyntax, _ message: String
  ) -> Fix {
    guard case .argumentList(let arguments) = attribute.arguments, arguments.count > 1 else {
      return .remove(attribute)
    }
    var left = Array(arguments)
    let removed = left.remove(at: index)
    // The next one of several values is the first now, and has their label.
    if removed.label != nil, index < left.count, left[index].label == nil {
      left[index].label = removed.label
      left[index].colon = removed.colon
    }
    left[left.count - 1].trailingComma = nil
    left[left.count - 1].trailingTrivia = []
    return .replace(arguments, LabeledExprListSyntax(left), message)
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
