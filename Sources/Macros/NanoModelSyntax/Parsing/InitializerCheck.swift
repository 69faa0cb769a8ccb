// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Checks that a class has an initializer for its required properties.
///
/// The compiler does not report a missing one, because it sees the initializers that `@Model` generates.
struct InitializerCheck {
  private let type: ClassDeclSyntax
  private let missing: [StoredProperty]

  init(_ type: ClassDeclSyntax, _ properties: [StoredProperty]) {
    self.type = type
    missing = properties.filter { !$0.hasInitialValue }
  }

  func run(_ problems: inout Problems) {
    guard let first = missing.first else { return }
    problems.add(
      .error, type.name,
      "class '\(type.name.text)' has no initializers, and '\(first.name)' has no initial value; add an initializer or an initial value",
      fixes: [.replace(type, fixed, "add an initializer")], blocks: false)
  }

  private var fixed: ClassDeclSyntax {
    var fixed = type.detached
    let indentation = type.memberBlock.members.first?.leadingTrivia.indentation ?? "  "
    let parameters = missing.map { "\($0.label): \($0.declaredType)" }.joined(separator: ", ")
    let values = missing.map { "\(indentation)  self.\($0.name) = \($0.name)\n" }.joined()
    let access = type.modifiers.contains { $0.name.tokenKind == .keyword(.public) } ? "public " : ""
    let initializer: DeclSyntax = """
      \(raw: access)init(\(raw: parameters)) {
      \(raw: values)\(raw: indentation)}
      """
    var item = MemberBlockItemSyntax(decl: initializer)
    item.leadingTrivia = .newlines(2) + .spaces(indentation.count)
    if !type.memberBlock.rightBrace.leadingTrivia.contains(where: \.isNewline) {
      item.trailingTrivia = .newlines(1)
    }
    if var last = fixed.memberBlock.members.last {
      last.trailingTrivia = Trivia(pieces: last.trailingTrivia.drop { $0.isWhitespace })
      fixed.memberBlock.members[
        fixed.memberBlock.members.index(before: fixed.memberBlock.members.endIndex)] = last
    }
    fixed.memberBlock.members.append(item)
    return fixed
  }
}

extension StoredProperty {
  /// The type as written in the declaration.
  fileprivate var declaredType: String {
    guard let relationship else { return type.displayText }
    return relationship.isToMany ? "[\(relationship.target)]" : "\(relationship.target)?"
  }
}

extension Trivia {
  /// The indentation of the line that starts in this trivia, or nil if none does.
  fileprivate var indentation: String? {
    let text = description
    guard let newline = text.lastIndex(where: \.isNewline) else { return nil }
    return String(text[text.index(after: newline)...])
  }
}
