// SPDX-License-Identifier: MIT

import SwiftSyntax
import SwiftSyntaxBuilder

/// Finds a class whose objects a program could not make. The compiler does not say so, since it finds the
/// initializers that `@Model` writes.
struct InitializerCheck {
  private let type: ClassDeclSyntax
  private let missing: [StoredProperty]

  init(_ type: ClassDeclSyntax, _ properties: [StoredProperty]) {
    self.type = type
    missing = properties.filter { !$0.hasFirstValue }
  }

  func run(_ problems: inout Problems) {
    guard let first = missing.first else { return }
    problems.add(
      .error, type.name,
      "class '\(type.name.text)' has no initializer, and '\(first.name)' has no initial value; add either",
      fixes: [.replace(type, mended, "add an initializer")], blocks: false)
  }

  private var mended: ClassDeclSyntax {
    var mended = type.detached
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
    if var last = mended.memberBlock.members.last {
      last.trailingTrivia = Trivia(pieces: last.trailingTrivia.drop { $0.isWhitespace })
      mended.memberBlock.members[
        mended.memberBlock.members.index(before: mended.memberBlock.members.endIndex)] = last
    }
    mended.memberBlock.members.append(item)
    return mended
  }
}

extension StoredProperty {
  /// As the declaration says it.
  fileprivate var declaredType: String {
    guard let relationship else { return type.shown }
    return relationship.isToMany ? "[\(relationship.target)]" : "\(relationship.target)?"
  }
}

extension Trivia {
  /// The blanks before the first token of a line; nil if no line begins here.
  fileprivate var indentation: String? {
    let text = description
    guard let newline = text.lastIndex(where: \.isNewline) else { return nil }
    return String(text[text.index(after: newline)...])
  }
}
