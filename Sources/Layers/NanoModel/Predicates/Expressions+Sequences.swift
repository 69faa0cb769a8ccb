// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let reason = "a list of single values"
    if let constant = try translator.term(sequence).constant,
      let truth = try translator.range(constant, contains: element, self)
    {
      return Term(truth)
    }
    let type = StoredType(RHS.Output.self)
    let truth = try translator.combined(sequence, element) { (list, element) throws(StoreError) in
      guard type.kind.hasEquality else { return nil }
      switch list.content {
      case .constant(let values as any Sequence): return try element.isIn(Self.array(values), type)
      case .stored(.array(let values)): return try element.isIn(values, type)
      case .location(let location):
        // Another sequence, such as data, is stored as a whole.
        guard case .list = location.type.kind else { return nil }
        return try location.contains(element, type)
      case .elements(let elements):
        guard element.content.value != nil || element.content.isKey else {
          throw StoreError.untranslatable(self, "for a filtered list, a constant or the key")
        }
        let itself = DocumentLocation(path: .element, depth: elements.list.depth + 1, type: type)
        return try itself.contains(element, type).map(elements.contain)
      default: return nil
      }
    }
    guard let truth else { throw .untranslatable(self, reason) }
    return Term(truth)
  }

  private static func array(_ values: some Sequence) -> [Any] { values.map { $0 } }
}

extension DocumentLocation {
  /// Returns the condition that an element of the list, or the value itself, equals an element.
  fileprivate func contains(_ element: Term.Case, _ type: StoredType) throws(StoreError)
    -> Condition?
  {
    if let value = element.content.value {
      if unwrapped(value) == nil || value as? DocumentValue == .null { return .isNull(expression) }
      return try Term.Case(content: .location(self)).equals(value, type)
    }
    guard !element.content.isKey || type.kind.isText, let other = element.content.expression else {
      return nil
    }
    let equal = Condition.comparison(expression, .equal, other)
    let number = type.kind.isFloating ? equal.and(.isNumber(other)) : equal
    return element.mayBeNull ? number.or(element.isNull.and(.isNull(expression))) : number
  }
}

extension Term.Case {
  /// Returns the condition that the content equals one of the values.
  fileprivate func isIn(_ values: [Any], _ type: StoredType) throws(StoreError) -> Condition? {
    guard let expression = content.expression, content.value == nil else {
      var holds = Condition.constant(false)
      for value in values {
        guard let equal = try equals(value, type) else { return nil }
        holds = holds.or(equal)
      }
      return holds
    }
    var list: [QueryExpression] = []
    var hasNull = false
    for value in values {
      if unwrapped(value) == nil || value as? DocumentValue == .null {
        hasNull = true
      } else if content.isKey {
        if let key = Self.key(of: value) { list.append(.value(key)) }
      } else {
        guard let stored = try storedForm(value) else { return nil }
        if !stored.isNaN { list.append(.value(stored)) }
      }
    }
    let isIn: Condition = list.isEmpty ? .constant(false) : .membership(expression, list)
    return hasNull ? isIn.or(isNull) : isIn
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.elements(of: sequence, variable, self) { (list, inner) throws(StoreError) in
      list.contain(try inner.infallibleTruth(test, self))
    } ofValues: { (values) throws(StoreError) in
      var any = Truth(holds: .constant(false))
      for value in values {
        any = any.or(try translator.entering(variable, Term(value)).truth(test))
      }
      return any
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.elements(of: sequence, variable, self) { (list, inner) throws(StoreError) in
      list.contain(try inner.infallibleTruth(test, self).opposite).opposite
    } ofValues: { (values) throws(StoreError) in
      var all = Truth(holds: .constant(true))
      for value in values {
        all = all.and(try translator.entering(variable, Term(value)).truth(test))
      }
      return all
    }
  }
}

extension PredicateExpressions.Filter: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let term = try translator.term(sequence).mapped { (part) throws(StoreError) in
      if let values = part.content.listed {
        return try translator.filtered(values, by: self.filter, variable)
      }
      guard let (list, inner) = translator.elements(part.content, variable) else { return nil }
      let filter = list.filter.and(try inner.infallibleTruth(self.filter, self))
      return Term(.elements(Elements(list: list.list, filter: filter)))
    }
    guard let term else {
      throw .untranslatable(self, "a stored list whose elements are not lists")
    }
    return term
  }
}

extension PredicateTranslator {
  /// Filters constant values with a condition that depends on nothing else; returns nil for other
  /// conditions.
  fileprivate func filtered<Element, Test: PredicateExpression>(
    _ values: [Term.Content], by test: Test, _ variable: PredicateExpressions.Variable<Element>
  ) throws(StoreError) -> Term? {
    var matching: [DocumentValue] = []
    for value in values {
      let truth = try entering(variable, Term(value)).truth(test)
      guard truth.fails == .constant(false), case .constant(let matches) = truth.holds else {
        return nil
      }
      guard matches else { continue }
      guard let constant = value.value, let stored = try storedForm(constant) else { return nil }
      matching.append(stored)
    }
    return Term(.stored(.array(matching)))
  }

  /// Returns the condition of a closure that cannot fail: with a failing closure, the result would
  /// depend on the order of the elements.
  fileprivate func infallibleTruth<E: PredicateExpression>(
    _ expression: E, _ whole: some PredicateExpression
  ) throws(StoreError) -> Condition {
    let truth = try truth(expression)
    guard truth.fails == .constant(false) else {
      throw .untranslatable(
        whole, "a closure without forced unwrapping and without arithmetic that can overflow")
    }
    return truth.holds
  }

  /// Returns the elements of a list in the document, and a translator for conditions on one of
  /// them.
  fileprivate func elements<Element>(
    _ content: Term.Content, _ variable: PredicateExpressions.Variable<Element>
  ) -> (Elements, PredicateTranslator)? {
    let elements: Elements
    switch content {
    case .location(let list): elements = Elements(list: list, filter: .constant(true))
    case .elements(let filtered): elements = filtered
    default: return nil
    }
    let type = StoredType(Element.self)
    guard elements.list.depth == depth, elements.list.path != nil, !type.kind.isList,
      case .list = elements.list.type.kind
    else { return nil }
    let element = DocumentLocation(path: .element, depth: depth + 1, type: type)
    let term = Term(.location(element), mayBeNull: type.isOptional)
    return (elements, entering(variable, term, deeper: true))
  }

  fileprivate func elements<L: PredicateExpression, Element>(
    of sequence: L, _ variable: PredicateExpressions.Variable<Element>,
    _ whole: some PredicateExpression,
    inDocument: (Elements, PredicateTranslator) throws(StoreError) -> Condition,
    ofValues: ([Term.Content]) throws(StoreError) -> Truth
  ) throws(StoreError) -> Term {
    let term = try term(sequence).mapped { (part) throws(StoreError) in
      if let (list, inner) = elements(part.content, variable) {
        return Term(.truth(try inDocument(list, inner)))
      }
      guard let values = part.content.listed else { return nil }
      return Term(try ofValues(values))
    }
    guard let term else {
      throw .untranslatable(
        whole, "a stored list whose elements are not lists, or a constant list")
    }
    return term
  }
}

extension Term.Content {
  /// The elements, if they are known before any document is read.
  fileprivate var listed: [Term.Content]? {
    func all(_ values: some Sequence) -> [Term.Content] {
      values.prefix(Self.maximumListLength + 1).map { .constant($0) }
    }
    let elements: [Term.Content]
    switch self {
    case .constant(let values as any Sequence): elements = all(values)
    case .stored(.array(let values)): elements = values.map { .stored($0) }
    default: return nil
    }
    return elements.count <= Self.maximumListLength ? elements : nil
  }

  /// Arbitrary: each value adds a condition.
  private static let maximumListLength = 1_000
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.extreme(of: elements, isGreatest: false, self)
  }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.extreme(of: elements, isGreatest: true, self)
  }
}

extension PredicateTranslator {
  fileprivate func extreme<L: PredicateExpression>(
    of list: L, isGreatest: Bool, _ whole: some PredicateExpression
  ) throws(StoreError) -> Term {
    let term = try term(list).mapped { part in
      switch (part.content, StoredType(L.Output.self).kind) {
      case (.stored(.array(let list)), _):
        let numbers = list.filter { !$0.isNaN }
        let values = numbers.isEmpty ? list : numbers
        let order: (DocumentValue, DocumentValue) -> Bool = { ValueOrder.compare($0, $1) < 0 }
        let found = isGreatest ? values.max(by: order) : values.min(by: order)
        return Term(.stored(found ?? .null))
      case (.location(let list), .list(let element)) where element.kind.hasOrder:
        return Term(.extreme(list, isGreatest: isGreatest), mayBeNull: true)
      default: return nil
      }
    }
    guard let term else {
      throw .untranslatable(whole, "a list of numbers, strings or dates")
    }
    return term
  }
}
