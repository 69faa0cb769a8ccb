// SPDX-License-Identifier: MIT

import NanoDocument

/// A check of a single value, evaluated on its bytes.
class ValueMatcher {
  /// Compiles the check of a condition on a single field. Returns `nil` for other kinds of conditions.
  static func make(_ condition: Condition) throws(StoreError) -> ValueMatcher? {
    switch condition {
    case .comparison(.field, let comparison, .value(let value)):
      return Literal(value).map { ComparisonMatcher(comparison, $0) }
    case .comparison(.value(let value), let comparison, .field):
      return Literal(value).map { ComparisonMatcher(comparison.mirrored, $0) }
    case .between(.field, .value(let low), .value(let high)):
      guard let low = Literal(low), let high = Literal(high) else { return nil }
      return RangeMatcher(low, high)
    case .membership(.field, let list):
      var literals: [Literal] = []
      for element in list {
        guard case .value(let value) = element, let literal = Literal(value) else { return nil }
        literals.append(literal)
      }
      return MembershipMatcher(literals)
    case .text(.field, let match, .value(let value)):
      guard Evaluator<DocumentSubject>.isText(value) else { return nil }
      let pattern = ValueOrder.text(value)
      return TextMatcher(match, Array(pattern.utf8), try TextPattern(match, pattern))
    case .isNull(.field): return ValueMatcher()
    default: return nil
    }
  }

  /// Returns whether the value at the reader's position satisfies the check.
  final func passes(_ reader: JSONReader) throws(StoreError) -> Bool {
    var reader = reader
    switch reader.kind() {
    case .array, .none, .null: return false
    case .string:
      let string = try reader.rawString()
      return string.isEscaped ? passes(.string(string.text)) : passes(text: string.bytes)
    case .object: return reader.isStoredForm ? passes(try reader.value()) : false
    case .bool, .number: return passes(try reader.value())
    }
  }

  fileprivate func passes(_ value: DocumentValue) -> Bool { false }
  /// Returns whether an unescaped string satisfies the check.
  func passes(text: UnsafeRawBufferPointer) -> Bool { false }
}

/// A constant with the UTF-8 bytes of its text, if it is a string or URL.
private struct Literal {
  let value: DocumentValue
  let isText: Bool
  let text: [UInt8]

  /// Returns `nil` for an array or object: equality with one compares trees, which is left to the
  /// evaluator.
  init?(_ value: DocumentValue) {
    let rank = ValueOrder.rank(value)
    if rank.isContainer { return nil }
    self.value = value
    isText = rank == .text
    text = Array(ValueOrder.text(value).utf8)
  }

  func compares(_ other: DocumentValue, _ comparison: Comparison) -> Bool {
    Evaluator<DocumentSubject>.compares(other, comparison, value)
  }

  @inline(__always)
  func equals(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isText && bytes.count == text.count
      && text.withUnsafeBytes { ByteSearch.compare(bytes, $0) == 0 }
  }

  /// Returns the order of the bytes relative to this text, or `nil` if the constant is not text.
  @inline(__always)
  func order(_ bytes: UnsafeRawBufferPointer) -> Int? {
    isText ? text.withUnsafeBytes { ByteSearch.compare(bytes, $0) } : nil
  }
}

private final class ComparisonMatcher: ValueMatcher {
  let comparison: Comparison
  let literal: Literal
  init(_ comparison: Comparison, _ literal: Literal) {
    self.comparison = comparison
    self.literal = literal
  }
  override func passes(_ value: DocumentValue) -> Bool { literal.compares(value, comparison) }
  override func passes(text: UnsafeRawBufferPointer) -> Bool {
    if comparison == .equal { return literal.equals(text) }
    guard let order = literal.order(text) else { return false }
    switch comparison {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order < 0
    case .lessOrEqual: return order <= 0
    case .greater: return order > 0
    case .greaterOrEqual: return order >= 0
    }
  }
}

private final class RangeMatcher: ValueMatcher {
  let low: Literal
  let high: Literal
  init(_ low: Literal, _ high: Literal) {
    self.low = low
    self.high = high
  }
  override func passes(_ value: DocumentValue) -> Bool {
    low.compares(value, .greaterOrEqual) && high.compares(value, .lessOrEqual)
  }
  override func passes(text: UnsafeRawBufferPointer) -> Bool {
    guard let above = low.order(text), let below = high.order(text) else { return false }
    return above >= 0 && below <= 0
  }
}

private final class MembershipMatcher: ValueMatcher {
  /// Sorted for binary search.
  private let texts: [Literal]
  private let others: [Literal]
  init(_ literals: [Literal]) {
    texts = literals.filter(\.isText).sorted { $0.text.lexicographicallyPrecedes($1.text) }
    others = literals.filter { !$0.isText && !$0.value.isNull }
      .sorted { ValueOrder.compare($0.value, $1.value) < 0 }
  }
  override func passes(_ value: DocumentValue) -> Bool {
    if Evaluator<DocumentSubject>.isText(value) {
      return Array(ValueOrder.text(value).utf8).withUnsafeBytes { passes(text: $0) }
    }
    return Self.holds(others) { ValueOrder.compare(value, $0.value) }
  }
  override func passes(text: UnsafeRawBufferPointer) -> Bool {
    Self.holds(texts) { $0.order(text) ?? 0 }
  }

  /// Returns whether one of the literals is equal, given the order of the value relative to each.
  @inline(__always)
  private static func holds(_ literals: [Literal], _ order: (Literal) -> Int) -> Bool {
    var (low, high) = (0, literals.count)
    while low < high {
      let middle = (low + high) / 2
      let order = order(literals[middle])
      if order == 0 { return true }
      if order < 0 { high = middle } else { low = middle + 1 }
    }
    return false
  }
}

private final class TextMatcher: ValueMatcher {
  let match: TextMatch
  let bytes: [UInt8]
  let pattern: TextPattern
  init(_ match: TextMatch, _ bytes: [UInt8], _ pattern: TextPattern) {
    self.match = match
    self.bytes = bytes
    self.pattern = pattern
  }
  override func passes(_ value: DocumentValue) -> Bool {
    Evaluator<DocumentSubject>.isText(value) && pattern.matches(ValueOrder.text(value))
  }
  override func passes(text: UnsafeRawBufferPointer) -> Bool {
    switch match {
    case .beginsWith:
      return text.count >= bytes.count
        && bytes.withUnsafeBytes {
          ByteSearch.compare(UnsafeRawBufferPointer(rebasing: text.prefix($0.count)), $0) == 0
        }
    case .endsWith:
      return text.count >= bytes.count
        && bytes.withUnsafeBytes {
          ByteSearch.compare(UnsafeRawBufferPointer(rebasing: text.suffix($0.count)), $0) == 0
        }
    case .contains: return ByteSearch.contains(text, bytes)
    default: return pattern.matches(String(decoding: text, as: UTF8.self))
    }
  }
}
