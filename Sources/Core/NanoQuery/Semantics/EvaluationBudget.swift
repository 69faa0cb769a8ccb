// SPDX-License-Identifier: MIT

import NanoDocument

/// What evaluating a query on one document may cost, beyond what grows with the document alone.
///
/// Several fields that hold arrays give the product of their numbers of values (rule 30), and texts
/// can be made of texts: without a limit a short query on a small document takes all memory and
/// never ends.
///
/// Confined to one thread at a time.
final class EvaluationBudget {
  /// Values made as combinations of several operands' values. Arbitrary: 24 bytes each, and a tenth of a
  /// second.
  static let maximumValues = 1_000_000
  /// Values compared with each other where both sides have several. Arbitrary: about a second.
  static let maximumComparisons = 10_000_000
  /// Bytes of the texts that `||`, `concat`, `replace` and `hex` make. Arbitrary.
  static let maximumTextBytes = 64 << 20

  private var values = 0
  private var comparisons = 0
  private var textBytes = 0

  /// Begins with another document.
  @inline(__always)
  func reset() {
    values = 0
    comparisons = 0
    textBytes = 0
  }

  /// Takes the combinations of operands with these numbers of values, before they are made. Those of a
  /// single operand are no more than the document holds.
  func spend(combining counts: [Int]) throws(StoreError) {
    guard counts.count(where: { $0 > 1 }) > 1 else { return }
    values += try Self.combinations(of: counts, upTo: Self.maximumValues - values)
  }

  /// How many combinations there are of choices of these numbers.
  @discardableResult
  static func combinations(
    of counts: [Int], upTo limit: Int = maximumValues
  ) throws(StoreError) -> Int {
    var product = 1
    for count in counts where count > 1 {
      let (next, overflow) = product.multipliedReportingOverflow(by: count)
      product = overflow ? .max : next
    }
    guard product > limit else { return product }
    throw StoreError(
      .tooComplex, "The fields of a document have too many combinations of values",
      [
        .limit: "\(maximumValues) combinations",
        .hint: "combine fewer fields that hold arrays, or use ELEMENT",
      ])
  }

  /// Takes comparisons of one value with others.
  @inline(__always)
  func spend(comparisons count: Int) throws(StoreError) {
    guard count <= Self.maximumComparisons - comparisons else {
      throw StoreError(
        .tooComplex, "The fields of a document have too many values to compare with each other",
        [
          .limit: "\(Self.maximumComparisons) comparisons",
          .hint: "compare fewer fields that hold arrays",
        ])
    }
    comparisons += count
  }

  /// Takes bytes of text.
  func spend(textBytes count: Int) throws(StoreError) {
    guard count <= Self.maximumTextBytes - textBytes else {
      throw StoreError(
        .tooComplex, "The texts that an expression makes of a document are too long",
        [.limit: "\(Self.maximumTextBytes) bytes", .hint: "make shorter texts"])
    }
    textBytes += count
  }

  /// Takes the bytes of a value that is a text.
  func spend(text value: DocumentValue) throws(StoreError) {
    if case .string(let text) = value { try spend(textBytes: text.utf8.count) }
  }

  /// Bytes of text that may still be made.
  var remainingTextBytes: Int { Self.maximumTextBytes - textBytes }
}

extension Condition {
  /// Whether evaluating it may exceed the budget: it makes values, or compares several of a document.
  package var mayExceedBudget: Bool {
    switch self {
    case .constant, .exists, .search: false
    case .all(let parts), .any(let parts): parts.contains(where: \.mayExceedBudget)
    case .not(let part), .leaf(let part), .element(_, let part): part.mayExceedBudget
    case .comparison(let left, _, let right), .text(let left, _, let right),
      .same(let left, let right):
      Self.mayExceedBudget([left, right])
    case .membership(let operand, let list): Self.mayExceedBudget([operand] + list)
    case .between(let operand, let low, let high): Self.mayExceedBudget([operand, low, high])
    case .isNull(let operand), .truth(let operand): Self.mayExceedBudget([operand])
    }
  }

  private static func mayExceedBudget(_ operands: [QueryExpression]) -> Bool {
    var fields = 0
    for operand in operands {
      switch operand {
      case .value, .attribute, .parameter: continue
      case .field: fields += 1
      default: return true
      }
    }
    return fields > 1
  }
}

extension StoreError {
  /// The same error with the row id of the document, if it is one of its budget.
  func naming(_ rowID: @autoclosure () -> DocumentValue) -> StoreError {
    guard code == .tooComplex, case .int(let id) = rowID() else { return self }
    return adding(.rowID, "\(id)")
  }
}
