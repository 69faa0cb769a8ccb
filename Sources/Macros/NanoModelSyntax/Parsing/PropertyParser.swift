// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Parses a property declaration and reports properties that cannot be stored.
struct PropertyParser {
  private let variable: VariableDeclSyntax
  private let marks: [AttributeSyntax]
  private let otherAttributes: [AttributeSyntax]

  private let isInClass: Bool

  init(_ variable: VariableDeclSyntax, isInClass: Bool = false) {
    self.variable = variable
    self.isInClass = isInClass
    let attributes = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
    marks = attributes.filter { Self.markNames.contains($0.shortName) }
    otherAttributes = attributes.filter { !Self.markNames.contains($0.shortName) }
  }

  private static let markNames: Set<String> = [
    "Field", "Transient", "Indexed", "Unique", "TextIndexed", "Key", "Relationship", "Inverse",
  ]
  /// Attributes that do not affect how a property is stored.
  private static let storageNeutral: Set<String> = ["available", "inlinable", "usableFromInline"]

  /// Returns the stored properties, and whether other attributes may affect their storage.
  func properties(
    _ problems: inout Problems
  ) -> (stored: [StoredProperty], hasOtherAttributes: Bool) {
    guard isStored else {
      for mark in marks {
        problems.add(
          .error, mark, "'@\(mark.shortName)' can only be applied to a stored property",
          fixes: [.remove(mark)])
      }
      return ([], false)
    }
    let isWrapped = otherAttributes.contains { !Self.storageNeutral.contains($0.shortName) }
    if let transient = mark("Transient") {
      checkTransient(transient, &problems)
      return ([], isWrapped)
    }
    checkMarks(&problems)
    guard checkModifiers(&problems) else { return ([], isWrapped) }
    if isRelationship { return (relationship(&problems), isWrapped) }
    if isInClass { checkObject(&problems) }
    return (stored(&problems), isWrapped)
  }

  /// Whether the property is a relationship, which only classes support.
  var isRelationship: Bool { mark("Relationship") != nil || mark("Inverse") != nil }
  /// Whether the property has accessors that load its object on first access and notify observers.
  var isTracked: Bool {
    isStored && !isRelationship && (mark("Transient") == nil || transient != nil)
  }

  /// The property if it is transient and can have accessors. They need its type; where only the compiler knows it, and
  /// for a wrapped, lazy or weak property, the property cannot be observed.
  var transient: StoredProperty? {
    guard mark("Transient") != nil, isStored, otherAttributes.isEmpty,
      variable.bindings.count == 1, let binding = variable.bindings.first,
      binding.accessorBlock == nil,
      variable.bindingSpecifier.tokenKind == .keyword(.var),
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return nil }
    let unobservable: [TokenKind] = [.keyword(.lazy), .keyword(.weak), .keyword(.unowned)]
    guard !variable.modifiers.contains(where: { unobservable.contains($0.name.tokenKind) }) else {
      return nil
    }
    let value = binding.initializer?.value
    let type =
      binding.typeAnnotation.map { PropertyType($0.type) } ?? value.flatMap { PropertyType(of: $0) }
    guard let type, value != nil || type.isOptional else { return nil }
    return StoredProperty(
      name: pattern.identifier.text, declaration: Syntax(pattern), type: type, initialValue: value,
      isLet: false, storedName: pattern.identifier.text, formerNames: [], marks: marks,
      nameNode: Syntax(pattern), removals: [], isTracked: true, isTransient: true)
  }

  private func relationship(_ problems: inout Problems) -> [StoredProperty] {
    let others = marks.filter { !RelationshipDeclaration.markNames.contains($0.shortName) }
    for mark in others where mark.shortName != "Field" {
      problems.add(
        .error, mark, "'@\(mark.shortName)' cannot be applied to a relationship",
        fixes: [.remove(mark)])
    }
    guard let relationship = RelationshipDeclaration(variable, &problems) else { return [] }
    if relationship.isInverse {
      if let value = variable.bindings.first?.initializer {
        problems.add(
          .error, value,
          "an '@Inverse' property cannot have an initial value, because the other class stores the relationship; remove the value"
        )
      }
      return []
    }
    guard let binding = variable.bindings.first else { return [] }
    let field = FieldArguments(mark("Field"), &problems)
    let storedName = field.name ?? relationship.name.trimmingBackticks
    let nameNode = field.node.map(Syntax.init) ?? Syntax(binding.pattern)
    return [
      StoredProperty(
        name: relationship.name, declaration: Syntax(binding.pattern),
        type: PropertyType(of: relationship),
        initialValue: binding.initializer?.value, isLet: false, storedName: storedName,
        formerNames: field.formerNames, marks: marks,
        nameNode: nameNode, removals: field.removals, relationship: relationship)
    ]
  }

  /// Returns the inverse of a relationship that another class stores, or nil if the property is not an inverse.
  func inverse(_ problems: inout Problems) -> RelationshipDeclaration? {
    guard mark("Inverse") != nil else { return nil }
    return RelationshipDeclaration(variable, &problems)
  }

  /// Checks a property of an object, whose content is loaded after initialization.
  private func checkObject(_ problems: inout Problems) {
    if variable.bindingSpecifier.tokenKind == .keyword(.let),
      variable.bindings.allSatisfy({ $0.initializer == nil })
    {
      var fixed = variable.detached
      fixed.bindingSpecifier.tokenKind = .keyword(.var)
      problems.add(
        .error, variable.bindingSpecifier,
        "a property of a '@Model' class must be a 'var', because it is loaded after the object is initialized",
        fixes: [.replace(variable, fixed, "make it a 'var'")])
    }
    if variable.bindings.count > 1 {
      problems.add(
        .error, variable.bindings, "declare each property of a '@Model' class separately")
    }
    for binding in variable.bindings {
      if let observers = binding.accessorBlock {
        problems.add(
          .error, observers,
          "a property of a '@Model' class cannot have observers; use 'ObjectContextObserver' instead"
        )
      }
    }
  }

  private func mark(_ name: String) -> AttributeSyntax? { marks.first { $0.shortName == name } }

  /// Whether the property is stored, that is, neither static nor computed.
  var isStored: Bool {
    for modifier in variable.modifiers {
      if [.keyword(.static), .keyword(.class)].contains(modifier.name.tokenKind) { return false }
    }
    return variable.bindings.allSatisfy { !$0.isComputed }
  }

  /// The names of the properties in the mirror, except lazy ones, which the mirror would have to compute.
  var mirroredNames: [String] {
    let isLazy = variable.modifiers.contains { $0.name.tokenKind == .keyword(.lazy) }
    guard isStored, !isLazy else { return [] }
    return variable.bindings.compactMap {
      $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
    }
  }

  // MARK: Checks

  private func checkTransient(_ transient: AttributeSyntax, _ problems: inout Problems) {
    for mark in marks where mark.shortName != "Transient" {
      problems.add(
        .error, mark, "'@\(mark.shortName)' cannot be combined with '@Transient'",
        fixes: [.remove(mark)])
    }
    for binding in variable.bindings where binding.initializer == nil {
      let isOptional = binding.typeAnnotation.map { PropertyType($0.type).isOptional } ?? false
      if isOptional, variable.bindingSpecifier.tokenKind == .keyword(.var) { continue }
      problems.add(
        .error, binding,
        "'@Transient' property '\(binding.pattern.trimmed)' needs an initial value, because it is not read from documents"
      )
    }
  }

  private func checkMarks(_ problems: inout Problems) {
    var seen: Set<String> = []
    for mark in marks where !seen.insert(mark.shortName).inserted {
      problems.add(
        .error, mark, "duplicate '@\(mark.shortName)'; remove one", fixes: [.remove(mark)])
    }
    if variable.bindings.count > 1, let field = mark("Field") {
      problems.add(
        .error, field, "'@Field' applies to a single property; declare each property separately")
    }
    if mark("Unique") != nil, let indexed = mark("Indexed") {
      problems.add(
        .error, indexed, "'@Unique' already creates an index; remove '@Indexed'",
        fixes: [.remove(indexed)])
    }
  }

  private func checkModifiers(_ problems: inout Problems) -> Bool {
    for modifier in variable.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.lazy), .keyword(.weak), .keyword(.unowned):
        problems.add(
          .error, modifier,
          "a '\(modifier.name.text)' property cannot be stored in a document; mark it with '@Transient'",
          fixes: [.attribute("Transient", variable)])
        return false
      default: continue
      }
    }
    return true
  }

  /// - Returns: Whether documents can store values of the type, judging by its spelling.
  private func checkType(
    _ annotation: TypeSyntax?, at pattern: IdentifierPatternSyntax, _ problems: inout Problems
  ) -> Bool {
    guard let annotation else { return true }
    let name = pattern.identifier.text.trimmingBackticks
    if let kind = annotation.unstorableKind {
      problems.add(
        .error, annotation,
        "'\(name)' has \(kind) type, which documents cannot store; change the type or mark the property with '@Transient'",
        fixes: [.attribute("Transient", variable)])
      return false
    }
    if annotation.isDictionary,
      let mark = mark("Indexed") ?? mark("Unique") ?? mark("TextIndexed") ?? mark("Key")
    {
      problems.add(
        .error, mark,
        "'@\(mark.shortName)' cannot be applied to '\(name)', because it is a dictionary",
        fixes: [.remove(mark)])
    }
    return true
  }

  /// Checks that the type of a key or text index is suitable; the compiler checks types whose name is inconclusive.
  private func checkMarks(of name: String, _ type: PropertyType, _ problems: inout Problems) {
    let named = NamedType(type)
    guard !named.isDictionary else { return }
    let subject = "'\(name)' has type '\(type.displayText)'"
    if let key = mark("Key"), named.isKey == false {
      problems.add(
        .error, key,
        "\(subject), which cannot be a key; use 'String', 'UUID', 'Int', 'Int64' or a type that conforms to 'ModelKey'",
        fixes: named.isList ? [.remove(key)] : [.remove(key), .rename(key, to: "Unique")],
        blocks: false)
    }
    if let text = mark("TextIndexed"), named.hasText == false {
      problems.add(
        .error, text,
        "\(subject), which contains no text to index; use '@Indexed' or remove '@TextIndexed'",
        fixes: [.remove(text), .rename(text, to: "Indexed")], blocks: false)
    }
  }

  // MARK: Properties

  private func stored(_ problems: inout Problems) -> [StoredProperty] {
    var properties: [StoredProperty] = []
    // In `var x, y: Double`, the type follows the last name.
    var annotation: TypeSyntax?
    for binding in variable.bindings.reversed() {
      if let type = binding.typeAnnotation?.type {
        annotation = type
      } else if binding.initializer != nil {
        annotation = nil
      }
      if let property = property(binding, annotation, &problems) { properties.append(property) }
    }
    return properties.reversed()
  }

  private func property(
    _ binding: PatternBindingSyntax, _ annotation: TypeSyntax?, _ problems: inout Problems
  ) -> StoredProperty? {
    guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
      problems.add(.error, binding.pattern, "declare each property of a '@Model' type separately")
      return nil
    }
    let isLet = variable.bindingSpecifier.tokenKind == .keyword(.let)
    let value = binding.initializer?.value
    if isLet, value != nil {
      var fixed = variable.detached
      fixed.bindingSpecifier.tokenKind = .keyword(.var)
      problems.add(
        .error, variable.bindingSpecifier,
        "a 'let' property with an initial value cannot be read from a document; make it a 'var' or mark it with '@Transient'",
        fixes: [
          .replace(variable, fixed, "make it a 'var'"), .attribute("Transient", variable),
        ])
      return nil
    }
    guard let type = annotation.map({ PropertyType($0) }) ?? value.flatMap({ PropertyType(of: $0) })
    else {
      var typed = binding.detached
      typed.pattern.trailingTrivia = []
      typed.typeAnnotation = TypeAnnotationSyntax(
        colon: .colonToken(trailingTrivia: .space),
        type: TypeSyntax(IdentifierTypeSyntax(name: .identifier("<#Type#>"))),
        trailingTrivia: .space)
      problems.add(
        .error, pattern,
        "'\(pattern.identifier.text)' needs a type annotation, because '@Model' cannot infer its type",
        fixes: [.replace(binding, typed, "add a type")])
      return nil
    }
    guard checkType(annotation, at: pattern, &problems) else { return nil }
    let name = pattern.identifier.text.trimmingBackticks
    checkMarks(of: name, type, &problems)
    let field = FieldArguments(mark("Field"), &problems)
    let storedName = field.name ?? name
    let nameNode = Syntax(field.node.map(Syntax.init) ?? Syntax(pattern))
    return StoredProperty(
      name: pattern.identifier.text, declaration: Syntax(pattern), type: type,
      initialValue: value, isLet: isLet, storedName: storedName, formerNames: field.formerNames,
      marks: marks,
      nameNode: nameNode, removals: field.removals, isTracked: isInClass)
  }
}

extension PatternBindingSyntax {
  /// Whether the property is computed; observers do not make it computed.
  fileprivate var isComputed: Bool {
    switch accessorBlock?.accessors {
    case nil: false
    case .getter: true
    case .accessors(let accessors):
      !accessors.allSatisfy {
        [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
      }
    }
  }
}

extension String {
  /// The name without backticks: `` `default` `` becomes `default`.
  var trimmingBackticks: String { hasPrefix("`") ? String(dropFirst().dropLast()) : self }

  /// Whether the name is an identifier or a keyword; a name in backticks can also be `2024` or `first name`.
  var isWord: Bool {
    first?.isNumber == false && allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  /// The name of the storage of the property with this name.
  var storageName: String {
    let plain = trimmingBackticks
    return "_\(plain)".isWord ? "_$f_\(plain)" : "`_$f_\(plain)`"
  }
}

/// The arguments of `@Field(…)`.
struct FieldArguments {
  let node: AttributeSyntax?
  var name: String?
  var formerNames: [String] = []
  /// The fix-its that remove each former name, in the same order.
  var removals: [Fix] = []

  init(_ node: AttributeSyntax?, _ problems: inout Problems) {
    self.node = node
    guard case .argumentList(let arguments) = node?.arguments else { return }
    for (index, argument) in arguments.enumerated() {
      if argument.expression.is(NilLiteralExprSyntax.self) { continue }
      guard let text = argument.expression.plainText else {
        problems.add(
          .error, argument, "a field name must be a string literal without interpolations")
        continue
      }
      if index == 0, argument.label == nil { name = text } else { formerNames.append(text) }
      if index > 0 || argument.label != nil, let node {
        removals.append(.remove(argument: index, of: node, "remove '\(text)'"))
      }
    }
  }
}
