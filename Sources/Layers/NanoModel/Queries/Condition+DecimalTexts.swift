// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

// Earlier versions stored `Decimal` properties as text.

extension Condition {
  /// Returns the condition in which the texts of some properties count as the decimals that they are read as.
  ///
  /// - Parameters:
  ///   - holdsText: Whether a document can store text at a path.
  ///   - base: The path to which the paths in the condition are relative.
  func readingDecimalTexts(
    _ holdsText: (FieldPath) -> Bool, in base: FieldPath? = nil
  ) -> Condition {
    func isText(_ path: FieldPath) -> Bool { holdsText(base?.appending(path) ?? path) }
    /// Separate conditions on numbers and on texts, so that each can use an index.
    func split(_ field: QueryExpression, _ test: (QueryExpression) -> Condition) -> Condition? {
      guard case .field(let path) = field, isText(path) else { return nil }
      return .any([
        test(field),
        .all([.isText(path), test(.cast(field, .decimal))]),
      ])
    }
    switch self {
    case .all(let parts): return .all(parts.map { $0.readingDecimalTexts(holdsText, in: base) })
    case .any(let parts): return .any(parts.map { $0.readingDecimalTexts(holdsText, in: base) })
    case .not(let part): return .not(part.readingDecimalTexts(holdsText, in: base))
    case .element(let path, let part):
      let list = base?.appending(path) ?? path
      return .element(path, part.readingDecimalTexts(holdsText, in: list))
    case .comparison(let left, let comparison, .value(let value)):
      guard value.isNumber else { break }
      let found = split(left) { .comparison($0, comparison, .value(value)) }
      if let found { return found }
    case .membership(let operand, let list):
      if let found = split(operand, { .membership($0, list) }) { return found }
    case .isNull(.field), .exists: return self
    default: break
    }
    return replacingExpressions { $0.decimal(where: isText) }
  }

  /// The condition that the field is text, as a range in an index.
  static func isText(_ path: FieldPath) -> Condition {
    .comparison(.field(path), .greaterOrEqual, .value(.string("")))
  }
}

extension QueryExpression {
  /// Returns the expression in which the texts of some properties count as the decimals that they are read as.
  func readingDecimalTexts(_ holdsText: (FieldPath) -> Bool) -> QueryExpression {
    replacingExpressions { $0.decimal(where: holdsText) }
  }

  fileprivate func decimal(where isText: (FieldPath) -> Bool) -> QueryExpression? {
    guard case .field(let path) = self, isText(path) else { return nil }
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
  static func holdsDecimals(_ path: FieldPath) -> Bool { holdsDecimals(path.components[...]) }

  private static func holdsDecimals(_ components: ArraySlice<String>) -> Bool {
    guard let name = components.first, fieldTable.mayHoldDecimals else { return false }
    return fieldTable.fields.contains { field in
      guard let step = field.location.steps.first,
        ([step.name] + step.formerNames).contains(where: { $0.hasSameBytes(as: name) })
      else { return false }
      guard let nested = step.nested, components.count > 1 else { return step.isDecimal }
      return nested.holdsDecimals(components.dropFirst())
    }
  }
}
