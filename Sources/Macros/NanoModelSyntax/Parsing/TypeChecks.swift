// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Finds what is wrong with a type as a whole.
struct TypeChecks {
  private let declaration: any DeclGroupSyntax
  private let node: AttributeSyntax
  private let surroundings: [Syntax]

  init(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ surroundings: [Syntax]) {
    self.declaration = declaration
    self.node = node
    self.surroundings = surroundings
  }

  func run(_ problems: inout Problems) {
    checkFinal(&problems)
    checkAttributes(&problems)
    checkPlace(&problems)
  }

  private func checkFinal(_ problems: inout Problems) {
    guard let type = declaration.as(ClassDeclSyntax.self),
      !type.modifiers.contains(where: { $0.name.tokenKind == .keyword(.final) })
    else { return }
    let keyword = type.classKeyword
    let final = DeclModifierSyntax(
      leadingTrivia: type.modifiers.isEmpty ? keyword.leadingTrivia : [],
      name: .keyword(.final), trailingTrivia: .space)
    var mended = type.detached
    mended.classKeyword.leadingTrivia = []
    // `open` and `final` exclude each other.
    mended.modifiers = DeclModifierListSyntax(
      mended.modifiers.map { modifier in
        guard modifier.name.tokenKind == .keyword(.open) else { return modifier }
        var modifier = modifier
        modifier.name.tokenKind = .keyword(.public)
        return modifier
      } + [final])
    problems.add(
      .error, keyword, "a class that is a '@Model' has to be final",
      fixes: [.replace(type, mended, "add 'final'")])
  }

  private func checkAttributes(_ problems: inout Problems) {
    let attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
    let marks = attributes.filter { $0.shortName == "Model" }
    for mark in marks.dropFirst() {
      problems.add(.error, mark, "'@Model' stands here twice", fixes: [.remove(mark)])
    }
    for attribute in attributes where attribute.shortName == "MainActor" {
      problems.add(
        .error, attribute,
        "a '@Model' is read and written on any thread and cannot belong to an actor",
        fixes: [.remove(attribute)])
    }
  }

  /// The compiler refuses extensions of types in functions, in words that name none of this.
  private func checkPlace(_ problems: inout Problems) {
    let isLocal = surroundings.contains {
      switch $0.kind {
      case .functionDecl, .closureExpr, .accessorDecl, .initializerDecl, .deinitializerDecl,
        .subscriptDecl, .variableDecl, .patternBinding:
        true
      default: false
      }
    }
    guard isLocal else { return }
    problems.add(.error, node, "a '@Model' cannot stand in a function; declare it outside")
  }
}

/// Finds members with names of what is written into a model.
struct MemberNameChecks {
  private let declaration: DeclSyntax

  init(_ declaration: DeclSyntax) { self.declaration = declaration }

  /// What a model says of itself, by static properties.
  private static let ofType: [String: String] = [
    "collectionName": "'@Model(collection:)' says it", "modelVersion": "'@Model(version:)' says it",
    "modelFields": "the properties say it",
  ]
  /// Properties of each value.
  private static let ofValue: Set<String> = ["documentKey", "unknownFields"]

  /// In a key path these are not properties, with backticks neither.
  private static let withoutKeyPath: Set<String> = ["self", "Type"]

  func run(_ problems: inout Problems) {
    if let variable = declaration.as(VariableDeclSyntax.self) {
      let isStatic = variable.modifiers.contains {
        [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind)
      }
      for binding in variable.bindings {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
          continue
        }
        check(name, isStatic: isStatic, &problems)
      }
    } else if let type = declaration.asProtocol((any NamedDeclSyntax).self),
      !declaration.is(FunctionDeclSyntax.self), !declaration.is(MacroDeclSyntax.self)
    {
      check(type.name, isStatic: true, &problems)
    }
  }

  private func check(_ token: TokenSyntax, isStatic: Bool, _ problems: inout Problems) {
    let name = token.text.trimmingBackticks
    if name.hasPrefix("_$") {
      problems.add(.error, token, "names that begin with '_$' belong to what '@Model' writes")
    } else if isStatic, let reason = Self.ofType[name] {
      problems.add(.error, token, "'\(name)' is written by '@Model'; \(reason)")
    } else if !isStatic, Self.withoutKeyPath.contains(name) {
      problems.add(
        .error, token,
        "no key path leads to a property named '\(name)'; give it another name, and '@Field(\"\(name)\")'"
      )
    } else if !isStatic, Self.ofValue.contains(name) {
      problems.add(
        .error, token,
        "'\(name)' belongs to 'Model'; give the property another name, and '@Field(\"\(name)\")'")
    }
  }
}

/// Members between `#if` and `#endif`: what an attribute sees is not what the compiler chooses.
struct ConditionalMembers {
  private let conditional: IfConfigDeclSyntax

  init(_ conditional: IfConfigDeclSyntax) { self.conditional = conditional }

  func check(_ problems: inout Problems) {
    for clause in conditional.clauses {
      guard case .decls(let members) = clause.elements else { continue }
      for member in members {
        if let inner = member.decl.as(IfConfigDeclSyntax.self) {
          ConditionalMembers(inner).check(&problems)
        } else if let variable = member.decl.as(VariableDeclSyntax.self),
          PropertyParser(variable).isStored
        {
          problems.add(
            .error, variable.bindingSpecifier,
            "a stored property of a '@Model' cannot stand in '#if'")
        } else if member.decl.is(InitializerDeclSyntax.self) {
          problems.add(
            .error, member.decl, "an initializer of a '@Model' in '#if' belongs in an extension")
        }
      }
    }
  }
}
