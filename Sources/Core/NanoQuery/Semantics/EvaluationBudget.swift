// SPDX-License-Identifier: MIT

import NanoDocument

/// The limits on the cost of evaluating a query on one document, beyond the cost proportional to the
/// document.
///
/// Several array fields multiply their numbers of values (rule 30), and expressions can concatenate
/// strings repeatedly: without limits, a short query on a small document could exhaust memory or run
/// indefinitely.
///
/// Confined to one thread at a time.
final class EvaluationBudget {
  /// The maximum number of combined operand values. Arbitrary: 24 bytes each, and a tenth of a second.
  static let maximumValues = 1_000_000
  /// The maximum number of comparisons between multiple values on both sides. Arbitrary: about a
  /// second.
  static let maximumComparisons = 10_000_000
  /// The maximum number of bytes of the strings that `||` and functions create, and of those in the arrays and objects
  /// that functions repeat. Arbitrary.
  static let maximumTextBytes = 64 << 20

  private var values = 0
  private var comparisons = 0
  private var textBytes = 0

  /// Starts a new document.
  @inline(__always)
  func reset() {
    values = 0
    comparisons = 0
    textBytes = 0
  }

  /// Charges the combinations of operands with these numbers of values, before they are computed. A
  /// single multivalued operand is free: it has no more values than the document.
  func spend(combining counts: [Int]) throws(StoreError) {
    guard counts.count(where: { $0 > 1 }) > 1 else { return }
    values += try Self.combinations(of: counts, upTo: Self.maximumValues - values)
  }

  /// Returns the number of combinations.
  ///
  /// - Throws: ``StoreError/Code/tooComplex`` if it exceeds the limit.
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
        .hint: "combine fewer array fields, or use ELEMENT",
      ])
  }

  /// Charges comparisons of one value with others.
  @inline(__always)
  func spend(comparisons count: Int) throws(StoreError) {
    guard count <= Self.maximumComparisons - comparisons else {
      throw StoreError(
        .tooComplex, "The fields of a document have too many values to compare with each other",
        [
          .limit: "\(Self.maximumComparisons) comparisons",
          .hint: "compare fewer array fields",
        ])
    }
    comparisons += count
  }

  /// Charges elements of arrays that functions create.
  func spend(elements count: Int) throws(StoreError) {
    guard count <= Self.maximumValues - values else {
      throw StoreError(
        .tooComplex, "The arrays that an expression builds from a document are too long",
        [.limit: "\(Self.maximumValues) elements", .hint: "build shorter arrays"])
    }
    values += count
  }

  /// Charges the elements and fields of a value, at any depth, and its text. Arrays share the values that they contain,
  /// so without a charge for those, a pipeline that repeats a value in each stage would grow exponentially.
  func spend(contentsOf value: DocumentValue) throws(StoreError) {
    switch value {
    case .string: try spend(text: value)
    case .array(let array):
      try spend(elements: array.count)
      for element in array { try spend(contentsOf: element) }
    case .object(let object):
      try spend(elements: object.count)
      for (_, value) in object { try spend(contentsOf: value) }
    default: break
    }
  }

  /// Charges an array or object that one of several calls of a function returned: all of them may return the same one.
  /// Other values are free, so that computations on a list of them are linear.
  func spend(repeating result: DocumentValue) throws(StoreError) {
    switch result {
    case .array, .object: try spend(contentsOf: result)
    default: break
    }
  }

  /// Charges bytes of text.
  func spend(textBytes count: Int) throws(StoreError) {
    guard count <= Self.maximumTextBytes - textBytes else {
      throw StoreError(
        .tooComplex, "The strings that an expression builds from a document are too long",
        [.limit: "\(Self.maximumTextBytes) bytes", .hint: "build shorter strings"])
    }
    textBytes += count
  }

  /// Charges the bytes of a value if it is a string.
  func spend(text value: DocumentValue) throws(StoreError) {
    if case .string(let text) = value { try spend(textBytes: text.utf8.count) }
  }

  /// The remaining bytes of text.
  var remainingTextBytes: Int { Self.maximumTextBytes - textBytes }
}

extension Condition {
  /// Whether evaluation may exceed the budget, because the condition computes values or compares
  /// multiple fields of a document.
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
    case .related(let related): Self.mayExceedBudget([related.local])
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
  /// Returns a budget error with the document's row ID added; other errors are unchanged.
  func addingRowID(_ rowID: @autoclosure () -> DocumentValue) -> StoreError {
    guard code == .tooComplex, case .int(let id) = rowID() else { return self }
    return adding(.rowID, "\(id)")
  }
}
