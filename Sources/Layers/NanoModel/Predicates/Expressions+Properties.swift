// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoStoreCore

extension PredicateExpressions.Value: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(.constant(value))
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(.constant(Wrapped?.none as Any))
  }
}

extension PredicateExpressions.Variable: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    guard let (term, depth) = translator.variables[key] else { throw .untranslatable(self) }
    guard depth == translator.depth || term.isValidInElements else {
      let error = StoreError.untranslatable(self, "closures that refer only to the element")
      let fields = term.cases.compactMap(\.content.location?.path).filter { !$0.isElement }
      throw fields.first.map { error.adding(.field, $0.description) } ?? error
    }
    return term
  }
}

extension Term {
  /// Whether the term means the same in a condition on the elements of a list, in which paths start
  /// at the element.
  fileprivate var isValidInElements: Bool {
    cases.allSatisfy { part in
      guard part.when.fields.isEmpty, !part.when.hasLeafConditions else { return false }
      return switch part.content {
      case .constant, .stored: true
      // The document itself, whose properties are checked one by one, or its key.
      case .location(let location): location.path == nil
      default: false
      }
    }
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let outer = try translator.term(root)
    let term = try outer.mapped { (part) throws(StoreError) in
      switch part.content {
      case .constant(let value):
        guard let value = value as? Root.Output else { return nil }
        return Term(.constant(value[keyPath: keyPath]))
      case .stored(let value): return try property(ofStored: value)
      case .location(let location): return try property(of: location, translator)
      case .elements(let elements): return property(of: elements)
      default: return nil
      }
    }
    guard let term else { throw .untranslatable(self, Self.reason) }
    return term
  }

  private static var reason: String {
    "a stored property of a model; isEmpty; count of a list; first of a list without optional elements"
  }

  /// The property of a model that the key path refers to. Longer paths are nested key paths in a
  /// predicate.
  private func field() -> PropertyLocation? {
    let table =
      Root.Output.self == Attachment.self
      ? FieldTable.ofAttachments : (Root.Output.self as? any Model.Type)?.fieldTable
    guard let field = table?.location(of: keyPath), field.path.components.count == 1 else {
      return nil
    }
    return field
  }

  private func property(of location: DocumentLocation, _ translator: PredicateTranslator)
    throws(StoreError)
    -> Term?
  {
    if let field = field() {
      // Related objects are stored in their own documents, which a condition cannot reach.
      guard location.path == nil || !(Root.Output.self is AnyClass) else {
        throw .untranslatable(self, "properties of the object itself, not of related objects")
      }
      if field.isKey, location.path == nil { return key }
      guard location.depth == translator.depth else {
        throw .untranslatable(self, "closures that refer only to the element")
      }
      return fields(field, in: location, includesFormerNames: translator.includesFormerNames)
    }
    guard location.depth == translator.depth else { return nil }
    switch (kind, StoredType(Root.Output.self).kind) {
    case (_, .dictionary) where isEmptyOfDictionary: return location.isEmptyDictionary
    case (.collectionIsEmpty, .text): return location.equals("")
    case (.collectionIsEmpty, .list(let element)) where !element.kind.isList:
      return location.equals(.array([]))
    case (.collectionCount, .list(let element)) where !element.kind.isList: return location.count
    case (.collectionFirst, .list(let element))
    where !element.kind.isList && !element.isOptional && !StoredType(Root.Output.self).isSet:
      return location.first(element)
    default: return nil
    }
  }

  private var isEmptyOfDictionary: Bool {
    (Root.Output.self as? any DictionaryType.Type)?.isEmptyPath == keyPath
  }

  private var key: Term {
    let type = StoredType(Output.self)
    let location = DocumentLocation(path: nil, depth: 0, type: type, isKey: true)
    return Term(.location(location), mayBeNull: type.isOptional)
  }

  /// Returns the cases of a field as the type decodes it: under its current name, under a former
  /// name, or the default.
  ///
  /// A null is a value in a property that accepts null, and a missing field in another one with a default.
  private func fields(
    _ field: PropertyLocation, in outer: DocumentLocation, includesFormerNames: Bool
  ) -> Term {
    let type = StoredType(Output.self)
    let acceptsNull = type.isOptional || Output.self == DocumentValue.self
    let missing = field.missing ?? (field.isToMany ? .array([]) : .null)
    var open = Condition.constant(true)
    var cases: [Term.Case] = []
    for path in [field.path] + (includesFormerNames ? field.formerPaths : []) {
      let location = outer.appending(path.components[0], type)
      let isMissing: Condition =
        acceptsNull ? .not(.exists(location.path ?? path)) : location.isNull
      cases.append(
        Term.Case(
          when: open.and(isMissing.opposite), content: .location(location),
          mayBeNull: acceptsNull))
      // Without a default, a missing field reads as null.
      if missing.isNull,
        cases.count == field.formerPaths.count + 1 || !includesFormerNames
      {
        cases[cases.count - 1].when = open
      }
      open = open.and(isMissing)
    }
    if !missing.isNull {
      cases.append(Term.Case(when: open, content: .stored(missing)))
    }
    return Term(cases)
  }

  private func property(of elements: Elements) -> Term? {
    switch kind {
    case .collectionIsEmpty: Term(.truth(elements.contain().opposite))
    case .collectionCount: Term(.count(elements))
    default: nil
    }
  }

  /// Returns a property of a default value.
  private func property(ofStored value: DocumentValue) throws(StoreError) -> Term? {
    if let field = field() {
      guard case .object(let object) = value else { return nil }
      for path in [field.path] + field.formerPaths {
        if let found = object[path.components[0]] { return Term(.stored(found)) }
      }
      return Term(.stored(field.missing ?? .null))
    }
    switch (kind, value) {
    case (.collectionIsEmpty, .string(let text)): return Term(.constant(text.isEmpty))
    case (_, .object(let object)) where isEmptyOfDictionary: return Term(.constant(object.isEmpty))
    case (_, .array(let list)) where isEmptyOfDictionary: return Term(.constant(list.isEmpty))
    case (.collectionIsEmpty, .array(let list)): return Term(.constant(list.isEmpty))
    case (.collectionCount, .array(let list)): return Term(.constant(list.count))
    case (.collectionFirst, .array(let list)):
      guard case .list(let element) = StoredType(Root.Output.self).kind, !element.isOptional else {
        return nil
      }
      return Term(.stored(list.first ?? .null))
    default: return nil
    }
  }
}

extension DocumentLocation {
  fileprivate func equals(_ value: DocumentValue) -> Term {
    Term(.truth(.comparison(expression, .equal, .value(value))))
  }

  /// `Codable` encodes a dictionary as an array unless its keys are strings or integers.
  fileprivate var isEmptyDictionary: Term {
    let isObject = Condition.comparison(expression, .equal, .value(.object([:])))
    return Term(.truth(isObject.or(.comparison(expression, .equal, .value(.array([]))))))
  }

  /// The number of elements of a list. A list can be stored as its only element if the property was
  /// not a list before.
  fileprivate var count: Term {
    Term([
      Term.Case(when: isArray, content: .computed(.function(.arrayLength, [expression]))),
      Term.Case(when: isArray.opposite, content: .constant(1)),
    ])
  }

  fileprivate func first(_ element: StoredType) -> Term {
    Term([
      Term.Case(when: isArray, content: .location(appending("0", element)), mayBeNull: true),
      Term.Case(
        when: isArray.opposite,
        content: .location(DocumentLocation(path: path, depth: depth, type: element)),
        mayBeNull: true),
    ])
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    guard case .list(let element) = StoredType(Wrapped.Output.self).kind, !element.kind.isList,
      let index = try translator.term(index).constant as? Int
    else { throw .untranslatable(self, "a list and a constant index") }
    let term = try translator.term(wrapped).mapped { part in
      switch part.content {
      case .stored(.array(let list)):
        guard list.indices.contains(index) else { return .failing }
        return Term(.stored(list[index]))
      case .location(let list): return list[index, element]
      default: return nil
      }
    }
    guard let term else { throw .untranslatable(self, "a list and a constant index") }
    return term
  }
}

extension DocumentLocation {
  fileprivate subscript(index: Int, element: StoredType) -> Term {
    guard index >= 0 else { return .failing }
    let location = appending(String(index), element)
    let exists = isArray.and(.exists(location.path ?? FieldPath(components: [])))
    var cases = [
      Term.Case(when: exists, content: .location(location), mayBeNull: element.isOptional)
    ]
    var found = exists
    if index == 0 {
      let only = DocumentLocation(path: path, depth: depth, type: element)
      cases.append(Term.Case(when: isArray.opposite, content: .location(only)))
      found = found.or(isArray.opposite)
    }
    return Term(cases, fails: found.opposite)
  }
}

extension Term {
  /// A term that fails for every document.
  static var failing: Term { Term([], fails: .constant(true)) }

  /// The value, if it is a constant of the program.
  var constant: Any? {
    guard cases.count == 1, case .constant(let value) = cases[0].content else { return nil }
    return value
  }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.value(wrapped, key, StoredType(Value.self), self)
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let found = try translator.value(wrapped, key, StoredType(Default.Output.self), self)
    return try found.present.joined(
      with: translator.term(self.default).limited(to: found.isNull))
  }
}

extension CodingKeyRepresentable {
  fileprivate func hasName(_ name: String) -> Bool { codingKey.stringValue.hasSameBytes(as: name) }
}

extension PredicateTranslator {
  fileprivate func value<W: PredicateExpression, K: PredicateExpression, E: PredicateExpression>(
    _ dictionary: W, _ key: K, _ type: StoredType, _ whole: E
  ) throws(StoreError) -> Term {
    let reason =
      "a dictionary with non-optional values that is stored as an object, and a constant key"
    guard !type.isOptional, let key = try term(key).constant as? any FieldNameConvertible,
      !key.fieldName.isEmpty
    else { throw .untranslatable(whole, reason) }
    // `Codable` stores a dictionary with other keys as an array of keys and values.
    guard
      W.Output.self is any FieldCodable.Type || W.Output.self is any RawValueContainer.Type
        || key is String || key is Int
        || (key as? any CodingKeyRepresentable)?.hasName(key.fieldName) == true
    else { throw .untranslatable(whole, reason) }
    let found = try term(dictionary).mapped { part in
      switch part.content {
      case .stored(.object(let object)): Term(.stored(object[key.fieldName] ?? .null))
      case .location(let location):
        Term(.location(location.appending(key.fieldName, type)), mayBeNull: true)
      default: nil
      }
    }
    guard let found else { throw .untranslatable(whole, reason) }
    return found
  }
}
