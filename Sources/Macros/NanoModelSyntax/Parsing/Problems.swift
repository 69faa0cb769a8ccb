// SPDX-License-Identifier: MIT

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The diagnostics of a declaration.
struct Problems {
  private(set) var all: [Diagnostic] = []

  /// Whether an error prevents generating code.
  ///
  /// Code is generated despite other errors, so that uses of the type do not cause additional errors.
  private(set) var hasErrors = false

  /// Adds a diagnostic.
  ///
  /// - Parameter blocks: Whether an error prevents generating code.
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

  func emit(_ context: some MacroExpansionContext) { all.forEach(context.diagnose) }

  private struct Message: DiagnosticMessage {
    let message: String
    let severity: DiagnosticSeverity
    var diagnosticID: MessageID { MessageID(domain: "NanoStoreModels", id: message) }
  }
}

/// A source change that fixes a problem.
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

  /// Removes an attribute and the space after it.
  ///
  /// Replaces only the attribute, because the attribute node that a macro receives is detached from its declaration.
  static func remove(_ attribute: AttributeSyntax) -> Fix {
    let nothing = TokenSyntax(
      .identifier(""), leadingTrivia: attribute.leadingTrivia, presence: .present)
    return .replace(attribute, nothing, "remove '@\(attribute.attributeName.trimmed)'")
  }

  /// Renames an attribute.
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

  /// Removes an argument of an attribute, or the whole attribute if it has no other arguments.
  static func remove(
    argument index: Int, of attribute: AttributeSyntax, _ message: String
  ) -> Fix {
    guard case .argumentList(let arguments) = attribute.arguments, arguments.count > 1 else {
      return .remove(attribute)
    }
    var remaining = Array(arguments)
    let removed = remaining.remove(at: index)
    // The next value of a variadic argument is now the first, and takes over the label.
    if removed.label != nil, index < remaining.count, remaining[index].label == nil {
      remaining[index].label = removed.label
      remaining[index].colon = removed.colon
    }
    remaining[remaining.count - 1].trailingComma = nil
    remaining[remaining.count - 1].trailingTrivia = []
    return .replace(arguments, LabeledExprListSyntax(remaining), message)
  }

  /// Adds an attribute to a property.
  static func attribute(_ name: String, _ variable: VariableDeclSyntax) -> Fix {
    var marked = variable.detached
    let leadingTrivia = marked.leadingTrivia
    marked.leadingTrivia = []
    let attribute = AttributeSyntax(TypeSyntax(IdentifierTypeSyntax(name: .identifier(name))))
    marked.attributes.insert(
      .attribute(attribute.with(\.trailingTrivia, .space)), at: marked.attributes.startIndex)
    marked.leadingTrivia = leadingTrivia
    return .replace(variable, marked, "add '@\(name)'")
  }
}

extension AttributeListSyntax.Element {
  /// The name of the attribute without its module, or nil for `#if`.
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
