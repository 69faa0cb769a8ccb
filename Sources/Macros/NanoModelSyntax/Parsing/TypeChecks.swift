// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Checks a model type as a whole.
struct TypeChecks {
  private let declaration: any DeclGroupSyntax
  private let node: AttributeSyntax
  private let enclosing: [Syntax]

  init(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ enclosing: [Syntax]) {
    self.declaration = declaration
    self.node = node
    self.enclosing = enclosing
  }

  func run(_ problems: inout Problems) {
    checkFinal(&problems)
    checkAttributes(&problems)
    checkLocation(&problems)
  }

  private func checkFinal(_ problems: inout Problems) {
    guard let type = declaration.as(ClassDeclSyntax.self),
      !type.modifiers.contains(where: { $0.name.tokenKind == .keyword(.final) })
    else { return }
    let keyword = type.classKeyword
    let final = DeclModifierSyntax(
      leadingTrivia: type.modifiers.isEmpty ? keyword.leadingTrivia : [],
      name: .keyword(.final), trailingTrivia: .space)
    var fixed = type.detached
    fixed.classKeyword.leadingTrivia = []
    // `open` and `final` cannot be combined.
    fixed.modifiers = DeclModifierListSyntax(
      fixed.modifiers.map { modifier in
        guard modifier.name.tokenKind == .keyword(.open) else { return modifier }
        var modifier = modifier
        modifier.name.tokenKind = .keyword(.public)
        return modifier
      } + [final])
    problems.add(
      .error, keyword, "a '@Model' class must be final",
      fixes: [.replace(type, fixed, "add 'final'")])
  }

  private func checkAttributes(_ problems: inout Problems) {
    let attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
    let marks = attributes.filter { $0.shortName == "Model" }
    for mark in marks.dropFirst() {
      problems.add(.error, mark, "duplicate '@Model'; remove one", fixes: [.remove(mark)])
    }
    for attribute in attributes where attribute.shortName == "MainActor" {
      problems.add(
        .error, attribute,
        "a '@Model' type cannot be isolated to an actor, because it is read and written on any thread",
        fixes: [.remove(attribute)])
    }
  }

  /// Rejects local types, because the compiler's error about their extensions does not mention the cause.
  private func checkLocation(_ problems: inout Problems) {
    let isLocal = enclosing.contains {
      switch $0.kind {
      case .functionDecl, .closureExpr, .accessorDecl, .initializerDecl, .deinitializerDecl,
        .subscriptDecl, .variableDecl, .patternBinding:
        true
      default: false
      }
    }
    guard isLocal else { return }
    problems.add(.error, node, "a '@Model' type cannot be local; declare it outside the function")
  }
}

/// Checks members for conflicts with the names of generated members.
struct MemberNameChecks {
  private let declaration: DeclSyntax

  init(_ declaration: DeclSyntax) { self.declaration = declaration }

  /// Static members that are generated, with advice for each.
  private static let ofType: [String: String] = [
    "collectionName": "use '@Model(collection:)' to set it",
    "modelVersion": "use '@Model(version:)' to set it",
    "modelFields": "choose a different name",
  ]
  /// Instance members of `Model`.
  private static let ofValue: Set<String> = ["documentKey", "unknownFields"]

  /// Names that do not denote properties in a key path, even in backticks.
  private static let withoutKeyPath: Set<String> = ["self", "Type", "Protocol"]

  /// Static members that a model may declare, with the types they must have to be used.
  private static let declared = [
    "upgrades": "[ModelUpgrade]", "indexes": "[ModelIndex<Self>]",
    "expirationRule": "ExpirationRule?",
  ]

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
        if isStatic { checkType(of: binding, name, &problems) }
      }
    } else if let type = declaration.asProtocol((any NamedDeclSyntax).self),
      !declaration.is(FunctionDeclSyntax.self), !declaration.is(MacroDeclSyntax.self)
    {
      check(type.name, isStatic: true, &problems)
    }
  }

  /// Reports a member with another type than the protocol requires: the compiler would use the default instead.
  private func checkType(
    of binding: PatternBindingSyntax, _ token: TokenSyntax, _ problems: inout Problems
  ) {
    guard let type = Self.declared[token.text.trimmingBackticks] else { return }
    let isOptional = type.hasSuffix("?")
    let annotation = binding.typeAnnotation?.type.trimmedDescription
    let call = binding.initializer?.value.as(FunctionCallExprSyntax.self)
    let written = annotation ?? call?.calledExpression.trimmedDescription ?? ""
    let module = "NanoStoreModels."
    let found = written.hasPrefix(module) ? written.dropFirst(module.count) : written[...]
    let name = found.prefix { $0.isLetter }
    let rest = found.dropFirst(name.count)
    // What the call of an initializer or a factory of the library returns, and the type without an array or optional.
    let factories = [".init", ".unique", ".after", ".field"]
    let isSingle =
      rest.isEmpty || rest.hasPrefix("<") && rest.hasSuffix(">")
      || annotation == nil && factories.contains { rest.hasSuffix($0) }
      || !isOptional && rest.hasSuffix("?")
    let isElement = ["ModelUpgrade", "ModelIndex", "ExpirationRule"].contains(name) && isSingle
    let isWrong = isElement || !isOptional && annotation?.hasSuffix("?") == true
    guard isWrong else { return }
    problems.add(
      .error, token, "'\(token.text)' must have the type '\(type)', or it is not used")
  }

  private func check(_ token: TokenSyntax, isStatic: Bool, _ problems: inout Problems) {
    let name = token.text.trimmingBackticks
    if name.hasPrefix("_$") {
      problems.add(
        .error, token,
        "names that begin with '_$' are reserved for code generated by '@Model'; choose a different name"
      )
    } else if isStatic, let advice = Self.ofType[name] {
      problems.add(.error, token, "'\(name)' is generated by '@Model'; \(advice)")
    } else if !isStatic, Self.withoutKeyPath.contains(name) {
      problems.add(
        .error, token,
        "a property named '\(name)' cannot be used in a key path; rename it, and add '@Field(\"\(name)\")' to keep the field name"
      )
    } else if !isStatic, Self.ofValue.contains(name) {
      problems.add(
        .error, token,
        "'\(name)' is a member of 'Model'; rename the property, and add '@Field(\"\(name)\")' to keep the field name"
      )
    }
  }
}

/// Checks members inside `#if`, since a macro sees all branches and not only the active one.
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
            "a stored property of a '@Model' type cannot be inside '#if'; move it out")
        } else if member.decl.is(InitializerDeclSyntax.self) {
          problems.add(
            .error, member.decl,
            "an initializer of a '@Model' type cannot be inside '#if'; move it to an extension")
        }
      }
    }
  }
}
