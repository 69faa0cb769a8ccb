// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

// Earlier versions stored `Decimal` properties as text.

/// What a property that can be stored as text holds.
enum DecimalForm {
  case decimal
  /// A list or a dictionary of decimals, whose length and elements are not those of a decimal.
  case collection
}

extension Condition {
  /// Returns the condition in which the texts of some properties count as the decimals that they are read as.
  ///
  /// - Parameters:
  ///   - form: What a document can store as text at a path; nil if nothing.
  ///   - base: The path to which the paths in the condition are relative.
  func readingDecimalTexts(
    _ form: (FieldPath) -> DecimalForm?, in base: FieldPath? = nil
  ) -> Condition {
    func found(_ path: FieldPath) -> DecimalForm? { form(base?.appending(path) ?? path) }
    /// Separate conditions on numbers and on texts, so that each can use an index.
    func split(_ field: QueryExpression, _ test: (QueryExpression) -> Condition) -> Condition? {
      // A list that was a single decimal before can be stored as text, too.
      guard case .field(let path) = field, found(path) != nil else { return nil }
      return .any([
        test(field),
        .all([.isText(path), test(.cast(field, .decimal))]),
      ])
    }
    switch self {
    case .all(let parts): return .all(parts.map { $0.readingDecimalTexts(form, in: base) })
    case .any(let parts): return .any(parts.map { $0.readingDecimalTexts(form, in: base) })
    case .not(let part): return .not(part.readingDecimalTexts(form, in: base))
    case .element(let path, let part):
      let list = base?.appending(path) ?? path
      return .element(path, part.readingDecimalTexts(form, in: list))
    case .comparison(let left, let comparison, .value(let value)):
      guard value.isNumber else { break }
      let found = split(left) { .comparison($0, comparison, .value(value)) }
      if let found { return found }
    case .membership(let operand, let list):
      if let found = split(operand, { .membership($0, list) }) { return found }
    case .isNull(.field), .exists: return self
    default: break
    }
    return replacingExpressions { $0.decimal(where: found) }
  }

  /// The condition that the field is text, as a range in an index.
  static func isText(_ path: FieldPath) -> Condition {
    .comparison(.field(path), .greaterOrEqual, .value(.string("")))
  }
}

extension QueryExpression {
  /// Returns the expression in which the texts of some properties count as the decimals that they are read as.
  func readingDecimalTexts(_ form: (FieldPath) -> DecimalForm?) -> QueryExpression {
    replacingExpressions { $0.decimal(where: form) }
  }

  fileprivate func decimal(where form: (FieldPath) -> DecimalForm?) -> QueryExpression? {
    guard case .field(let path) = self, form(path) == .decimal else { return nil }
    return .cast(self, .decimal)
  }
}

extension DocumentValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .double, .decimal: true
    default: false
    }
  }
}

extension [ObservedPath] {
  /// Returns which of the paths may have contained text.
  func holdingText(of paths: Set<FieldPath>) -> Set<FieldPath> {
    guard !paths.isEmpty else { return [] }
    let catalog = PathCatalog(self)
    return paths.filter { catalog.mayContain($0, as: .string) }
  }
}

extension Model {
  /// Returns whether the property at a path holds decimals.
  static func holdsDecimals(_ path: FieldPath) -> Bool { decimals(at: path) != nil }

  /// Returns in which form the property at a path holds decimals; nil if it does not.
  static func decimals(at path: FieldPath) -> DecimalForm? {
    // A number can be the name of an entry, or the position of an element.
    if let form = decimals(path.components[...]) { return form }
    guard let list = path.withoutPositions, let form = decimals(list.components[...]) else {
      return nil
    }
    return path.endsWithElement ? .decimal : form
  }

  private static func decimals(_ components: ArraySlice<String>) -> DecimalForm? {
    guard let name = components.first, fieldTable.mayHoldDecimals else { return nil }
    for field in fieldTable.fields {
      guard let step = field.location.steps.first,
        ([step.name] + step.formerNames).contains(where: { $0.hasSameBytes(as: name) })
      else { continue }
      if components.count > 1, let nested = step.nested {
        return nested.decimals(components.dropFirst())
      }
      if components.count > 2, let entry = step.entry {
        return entry.decimals(components.dropFirst(2))
      }
      guard step.isDecimal else { return nil }
      return components.count == 1 && step.isCollection ? .collection : .decimal
    }
    return nil
  }
}
