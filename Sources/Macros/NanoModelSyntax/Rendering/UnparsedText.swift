// SPDX-License-Identifier: MIT

import SwiftSyntax

// Generated source is returned as text in a node that is not parsed. The compiler parses the text that it receives from
// a plug-in anyway, and a plug-in is a debug build in debug builds of programs: parsing and formatting its own text took
// two thirds of the time in which a model compiled.

extension DeclSyntax {
  init(unparsed text: String) { self.init(MissingDeclSyntax(placeholder: .identifier(text))) }
}

extension AccessorDeclSyntax {
  init(unparsed text: String) {
    self.init(
      UnexpectedNodesSyntax([Syntax(TokenSyntax.identifier(text))]),
      accessorSpecifier: .keyword(.get, presence: .missing))
  }
}

extension ExtensionDeclSyntax {
  init(unparsed text: String) {
    self.init(
      UnexpectedNodesSyntax([Syntax(TokenSyntax.identifier(text))]),
      extensionKeyword: .keyword(.extension, presence: .missing),
      extendedType: MissingTypeSyntax(placeholder: .identifier("", presence: .missing)),
      memberBlock: MemberBlockSyntax(
        leftBrace: .leftBraceToken(presence: .missing), members: [],
        rightBrace: .rightBraceToken(presence: .missing)))
  }
}
