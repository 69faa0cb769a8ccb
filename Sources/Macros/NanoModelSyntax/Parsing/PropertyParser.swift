// SPDX-License-Identifier: MIT

import SwiftSyntax

/// Reads a declaration of properties, and finds what cannot be stored.
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
  /// Attributes that change nothing about how a property is stored.
  private static let harmless: Set<String> = ["available", "inlinable", "usableFromInline"]

  /// The stored properties, and whether others have a say in how they are stored.
  func properties(
    _ problems: inout Problems
  ) -> (stored: [StoredProperty], hasOtherAttributes: Bool) {
    guard isStored else {
      for mark in marks {
        problems.add(
          .error, mark, "'@\(mark.shortName)' belongs to a stored property", fixes: [.remove(mark)])
      }
      return ([], false)
    }
    let isWrapped = otherAttributes.contains { !Self.harmless.contains($0.shortName) }
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

  /// Whether objects stand there, which only classes have.
  var isRelationship: Bool { mark("Relationship") != nil || mark("Inverse") != nil }
  /// Whether it is to be loaded when it is looked at.
  var isTracked: Bool { isStored && !isRelationship && mark("Transient") == nil }

  private func relationship(_ problems: inout Problems) -> [StoredProperty] {
    let others = marks.filter { !RelationshipDeclaration.markNames.contains($0.shortName) }
    for mark in others where mark.shortName != "Field" {
      problems.add(
        .error, mark, "a relationship has no '@\(mark.shortName)'", fixes: [.remove(mark)])
    }
    guard let relationship = RelationshipDeclaration(variable, &problems) else { return [] }
    if relationship.isInverse {
      if let value = variable.bindings.first?.initializer {
        problems.add(.error, value, "the other class keeps this relationship; it has no value here")
      }
      return []
    }
    guard let binding = variable.bindings.first else { return [] }
    let field = FieldArguments(mark("Field"), &problems)
    let storedName = field.name ?? relationship.name.trimmingBackticks
    let place = field.node.map(Syntax.init) ?? Syntax(binding.pattern)
    return [
      StoredProperty(
        name: relationship.name, declaration: Syntax(binding.pattern),
        type: PropertyType(of: relationship),
        initialValue: binding.initializer?.value, isLet: false, storedName: storedName,
        formerNames: field.formerNames, marks: marks,
        namesPlace: place, removals: field.removals, relationship: relationship)
    ]
  }

  /// The relationship that another class keeps, if it is one.
  func inverse(_ problems: inout Problems) -> RelationshipDeclaration? {
    guard mark("Inverse") != nil else { return nil }
    return RelationshipDeclaration(variable, &problems)
  }

  /// The content of an object comes later than the object.
  private func checkObject(_ problems: inout Problems) {
    if variable.bindingSpecifier.tokenKind == .keyword(.let),
      variable.bindings.allSatisfy({ $0.initializer == nil })
    {
      var mended = variable.detached
      mended.bindingSpecifier.tokenKind = .keyword(.var)
      problems.add(
        .error, variable.bindingSpecifier,
        "a property of an object is loaded after the object is made, and so is a variable",
        fixes: [.replace(variable, mended, "make it a 'var'")])
    }
    if variable.bindings.count > 1 {
      problems.add(.error, variable.bindings, "declare each property of an object on its own")
    }
    for binding in variable.bindings {
      if let observers = binding.accessorBlock {
        problems.add(
          .error, observers,
          "a property of an object has no observers; see 'ObjectContextObserver'")
      }
    }
  }

  private func mark(_ name: String) -> AttributeSyntax? { marks.first { $0.shortName == name } }

  /// Whether it has a place in values: neither static nor computed.
  var isStored: Bool {
    for modifier in variable.modifiers {
      if [.keyword(.static), .keyword(.class)].contains(modifier.name.tokenKind) { return false }
    }
    return variable.bindings.allSatisfy { !$0.isComputed }
  }

  /// What a value shows of itself. A lazy property would have to be computed for that.
  var shownNames: [String] {
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
        .error, mark, "a property that is not stored has no '@\(mark.shortName)'",
        fixes: [.remove(mark)])
    }
    for binding in variable.bindings where binding.initializer == nil {
      let isOptional = binding.typeAnnotation.map { PropertyType($0.type).isOptional } ?? false
      if isOptional, variable.bindingSpecifier.tokenKind == .keyword(.var) { continue }
      problems.add(
        .error, binding,
        "'\(binding.pattern.trimmed)' is not stored and needs a value to have after reading")
    }
  }

  private func checkMarks(_ problems: inout Problems) {
    var seen: Set<String> = []
    for mark in marks where !seen.insert(mark.shortName).inserted {
      problems.add(
        .error, mark, "'@\(mark.shortName)' stands here twice", fixes: [.remove(mark)])
    }
    if variable.bindings.count > 1, let field = mark("Field") {
      problems.add(.error, field, "'@Field' belongs to one property; declare each on its own")
    }
    if mark("Unique") != nil, let indexed = mark("Indexed") {
      problems.add(
        .error, indexed, "'@Unique' makes an index already", fixes: [.remove(indexed)])
    }
  }

  private func checkModifiers(_ problems: inout Problems) -> Bool {
    for modifier in variable.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.lazy), .keyword(.weak), .keyword(.unowned):
        problems.add(
          .error, modifier, "a '\(modifier.name.text)' property is not stored",
          fixes: [.attribute("Transient", variable)])
        return false
      default: continue
      }
    }
    return true
  }

  /// - Returns: Whether documents can hold values of the type, as far as its text tells.
  private func checkType(
    _ annotation: TypeSyntax?, at pattern: IdentifierPatternSyntax, _ problems: inout Problems
  ) -> Bool {
    guard let annotation else { return true }
    let name = pattern.identifier.text.trimmingBackticks
    if let kind = annotation.unstorableKind {
      problems.add(
        .error, annotation, "'\(name)' is \(kind), which no document can hold",
        fixes: [.attribute("Transient", variable)])
      return false
    }
    if annotation.isDictionary,
      let mark = mark("Indexed") ?? mark("Unique") ?? mark("TextIndexed") ?? mark("Key")
    {
      problems.add(
        .error, mark, "'\(name)' is a dictionary, which has no '@\(mark.shortName)'",
        fixes: [.remove(mark)])
    }
    return true
  }

  /// A key and a text index are for few types. What the name of the type does not say, the compiler finds.
  private func checkMarks(of name: String, _ type: PropertyType, _ problems: inout Problems) {
    let named = NamedType(type)
    guard !named.isDictionary else { return }
    let article = "'\(name)' has type '\(type.shown)'"
    if let key = mark("Key"), named.isKey == false {
      problems.add(
        .error, key,
        "\(article), which cannot be a key; a key is a 'String', 'UUID', 'Int', 'Int64' or a type that conforms to 'ModelKey'",
        fixes: named.isList ? [.remove(key)] : [.remove(key), .rename(key, to: "Unique")],
        blocks: false)
    }
    if let text = mark("TextIndexed"), named.hasText == false {
      problems.add(
        .error, text, "\(article), which has no text to index",
        fixes: [.remove(text), .rename(text, to: "Indexed")], blocks: false)
    }
  }

  // MARK: Properties

  private func stored(_ problems: inout Problems) -> [StoredProperty] {
    var properties: [StoredProperty] = []
    // In `var x, y: Double` the type stands behind the last one.
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
      problems.add(.error, binding.pattern, "declare each property of a '@Model' on its own")
      return nil
    }
    let isLet = variable.bindingSpecifier.tokenKind == .keyword(.let)
    let value = binding.initializer?.value
    if isLet, value != nil {
      var mended = variable.detached
      mended.bindingSpecifier.tokenKind = .keyword(.var)
      problems.add(
        .error, variable.bindingSpecifier,
        "a constant with a value cannot be read from a document",
        fixes: [
          .replace(variable, mended, "make it a 'var'"), .attribute("Transient", variable),
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
        .error, pattern, "'\(pattern.identifier.text)' needs a type annotation",
        fixes: [.replace(binding, typed, "add a type")])
      return nil
    }
    guard checkType(annotation, at: pattern, &problems) else { return nil }
    let name = pattern.identifier.text.trimmingBackticks
    checkMarks(of: name, type, &problems)
    let field = FieldArguments(mark("Field"), &problems)
    let storedName = field.name ?? name
    let place = Syntax(field.node.map(Syntax.init) ?? Syntax(pattern))
    return StoredProperty(
      name: pattern.identifier.text, declaration: Syntax(pattern), type: type,
      initialValue: value, isLet: isLet, storedName: storedName, formerNames: field.formerNames,
      marks: marks,
      namesPlace: place, removals: field.removals, isTracked: isInClass)
  }
}

extension PatternBindingSyntax {
  /// Whether it has code in place of a value; observers leave it stored.
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
  /// A name that was written as `` `default` `` is `default`.
  var trimmingBackticks: String { hasPrefix("`") ? String(dropFirst().dropLast()) : self }
}

/// What stands in the parentheses of `@Field(…)`.
struct FieldArguments {
  let node: AttributeSyntax?
  var name: String?
  var formerNames: [String] = []
  /// What takes a former name away, by its place among them.
  var removals: [Fix] = []

  init(_ node: AttributeSyntax?, _ problems: inout Problems) {
    self.node = node
    guard case .argumentList(let arguments) = node?.arguments else { return }
    for (index, argument) in arguments.enumerated() {
      if argument.expression.is(NilLiteralExprSyntax.self) { continue }
      guard let text = argument.expression.plainText else {
        problems.add(.error, argument, "a field's name is a string without interpolations")
        continue
      }
      if index == 0, argument.label == nil { name = text } else { formerNames.append(text) }
      if index > 0 || argument.label != nil, let node {
        removals.append(.remove(argument: index, of: node, "remove '\(text)'"))
      }
    }
  }
}
