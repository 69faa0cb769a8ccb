// SPDX-License-Identifier: MIT

package import NanoDocument

/// **The definition** of update operators, which docs/QUERY-SEMANTICS.md follows. All engines apply them with it.
extension FieldChange {
  /// Applies the change to a document.
  ///
  /// - Parameter isInsert: Whether the document is new.
  /// - Throws: ``StoreError/Code/typeMismatch``, ``StoreError/Code/valueNotStorable``,
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidPath``. The object may have been changed.
  package func apply(to object: inout DocumentObject, isInsert: Bool = false) throws(StoreError) {
    switch operation {
    case .rename(let new): try rename(to: new, in: &object)
    case .setOnInsert where !isInsert: break
    case .pullMatching:
      let document = object
      try object.change(path) { (old) throws(StoreError) in
        try value(replacing: old, in: document)
      }
    default:
      try object.change(path) { (old) throws(StoreError) in try value(replacing: old, in: nil) }
    }
  }

  /// Returns the new value of the field; nil if it is removed or stays missing.
  ///
  /// - Parameters:
  ///   - old: The value of the field; nil if it is missing.
  ///   - document: The document before the change, to which a condition on array elements may refer.
  /// - Throws: As ``apply(to:isInsert:)``.
  func value(
    replacing old: DocumentValue?, in document: DocumentObject?
  ) throws(StoreError) -> DocumentValue? {
    switch operation {
    case .set(let value), .setOnInsert(let value): return value
    // A renamed field is removed here, and set elsewhere.
    case .remove, .rename: return nil
    case .increment(let amount):
      guard let old else { return amount }
      return try number(
        old, amount, { $0.addingReportingOverflow($1) }, DecimalArithmetic.add, +)
    case .multiply(let factor):
      return try number(
        old ?? .int(0), factor, { $0.multipliedReportingOverflow(by: $1) },
        DecimalArithmetic.multiply, *)
    case .minimum(let value):
      return old.map { ValueOrder.compare(value, $0) < 0 ? value : $0 } ?? value
    case .maximum(let value):
      return old.map { ValueOrder.compare(value, $0) > 0 ? value : $0 } ?? value
    case .insert, .addToSet, .pull, .pullMatching, .pop:
      guard let array = try array(old) else {
        // Removing from a missing array does not create it.
        return isAddition ? .array(try changed([], in: document ?? [:])) : Optional.none
      }
      return .array(try changed(array, in: document ?? [:]))
    }
  }

  private func rename(to new: FieldPath, in object: inout DocumentObject) throws(StoreError) {
    try new.validate()
    var moved: DocumentValue?
    try object.change(path) { (old) throws(StoreError) in
      moved = old
      return nil
    }
    if let moved { try object.set(moved, at: new) }
  }

  /// Combines two numbers: as doubles if one is a double, otherwise exactly.
  private func number(
    _ old: DocumentValue, _ operand: DocumentValue,
    _ exact: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
    _ decimal: (DecimalValue, DecimalValue) -> DecimalDigits.Rounded?,
    _ rounded: (Double, Double) -> Double
  ) throws(StoreError) -> DocumentValue {
    if case .int(let a) = old, case .int(let b) = operand {
      let (value, overflow) = exact(a, b)
      guard !overflow else {
        throw StoreError(
          .valueNotStorable, "The result of an update is not a 64-bit integer",
          [.field: path.description])
      }
      return .int(value)
    }
    switch (old, operand) {
    case (.decimal, .decimal), (.decimal, .int), (.int, .decimal):
      // A decimal that cannot be stored, such as 1/3 in 38 digits, has no exact result either.
      guard let a = old.decimalOperand, let b = operand.decimalOperand,
        let result = decimal(a, b), result.isExact
      else {
        throw StoreError(
          .valueNotStorable, "The result of an update is not a decimal of 34 digits",
          [.field: path.description])
      }
      return .decimal(result.value)
    default: break
    }
    guard let a = Self.double(old), let b = Self.double(operand) else {
      throw mismatch(old, expected: "a number")
    }
    return .double(rounded(a, b))
  }

  private static func double(_ value: DocumentValue) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): number.nearestDouble
    default: nil
    }
  }

  private func mismatch(_ value: DocumentValue, expected: String) -> StoreError {
    StoreError(
      .typeMismatch, "A field has a value of another type than its update needs",
      [.field: path.description, .expected: expected, .actual: value.typeName])
  }

  private func array(_ old: DocumentValue?) throws(StoreError) -> [DocumentValue]? {
    guard let old else { return nil }
    guard case .array(let array) = old else { throw mismatch(old, expected: "an array") }
    return array
  }

  private var isAddition: Bool {
    switch operation {
    case .insert, .addToSet: true
    default: false
    }
  }

  private func changed(
    _ array: [DocumentValue], in document: DocumentObject
  ) throws(StoreError) -> [DocumentValue] {
    var array = array
    switch operation {
    case .insert(let values, let index):
      guard index ?? 0 >= 0 else {
        throw StoreError(
          .invalidArgument, "The index of an array element is negative",
          [.field: path.description])
      }
      array.insert(contentsOf: values, at: Swift.min(index ?? array.count, array.count))
    case .addToSet(let values):
      for value in values where !array.contains(where: { ValueOrder.compare($0, value) == 0 }) {
        array.append(value)
      }
    case .pull(let values):
      array.removeAll { element in values.contains { ValueOrder.compare(element, $0) == 0 } }
    case .pullMatching(let condition):
      let document = DocumentSubject(document)
      var kept: [DocumentValue] = []
      for element in array {
        let subject = ElementSubject(element: element, document: document)
        if case .array = element {
          kept.append(element)
        } else if try !Evaluator(subject).holds(condition) {
          kept.append(element)
        }
      }
      array = kept
    case .pop(.first): if !array.isEmpty { array.removeFirst() }
    case .pop(.last): if !array.isEmpty { array.removeLast() }
    case .set, .setOnInsert, .remove, .rename, .increment, .multiply, .minimum, .maximum: break
    }
    return array
  }
}

extension FieldChange.Operation {
  /// Checks the condition for elements to remove, on which applying the change relies. Once, and not for each document.
  ///
  /// - Throws: The errors of a query with the condition; ``StoreError/Code/unsupported`` if it uses attributes.
  package func validateCondition() throws(StoreError) {
    guard case .pullMatching(let condition) = self else { return }
    guard !condition.usesAttributes else {
      throw StoreError(
        .unsupported, "The condition of an update uses metadata of the document",
        [.hint: "add the condition to the query of the update"])
    }
    try condition.validate()
  }
}
