// SPDX-License-Identifier: MIT

import NanoDocument

/// A question about one value, answered on its bytes.
struct ValueTest {
  private enum Question {
    case compare(Comparison, Literal)
    case between(Literal, Literal)
    case member([Literal])
    case text(TextMatch, [UInt8], TextPattern)
    case isNull
  }
  private let question: Question

  /// A constant with the bytes of its text, if it is one.
  private struct Literal {
    let value: DocumentValue
    let rank: ValueOrder.Rank
    let text: [UInt8]

    init?(_ value: DocumentValue) {
      self.value = value
      rank = ValueOrder.rank(value)
      // Equality with a container compares trees; that is left to the evaluator.
      if rank.isContainer { return nil }
      text = Array(ValueOrder.text(value).utf8)
    }
  }

  /// The test that a condition on a single field makes; nil if it is of another shape.
  init?(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .comparison(.field, let comparison, .value(let value)):
      guard let literal = Literal(value) else { return nil }
      question = .compare(comparison, literal)
    case .comparison(.value(let value), let comparison, .field):
      guard let literal = Literal(value) else { return nil }
      question = .compare(comparison.mirrored, literal)
    case .between(.field, .value(let low), .value(let high)):
      guard let low = Literal(low), let high = Literal(high) else { return nil }
      question = .between(low, high)
    case .membership(.field, let list):
      var literals: [Literal] = []
      for element in list {
        guard case .value(let value) = element, let literal = Literal(value) else { return nil }
        literals.append(literal)
      }
      question = .member(literals)
    case .text(.field, let match, .value(let value)):
      guard Evaluator<DocumentSubject>.isText(value) else { return nil }
      let pattern = ValueOrder.text(value)
      question = .text(match, Array(pattern.utf8), try TextPattern(match, pattern))
    case .isNull(.field): question = .isNull
    default: return nil
    }
  }

  /// Whether the value that stands here passes.
  func passes(_ reader: JSONReader) throws(StoreError) -> Bool {
    var reader = reader
    switch reader.kind() {
    case .array, .none: return false
    case .null: if case .isNull = question { return true } else { return false }
    case .string: return passes(try reader.rawString())
    case .object:
      return reader.isStoredForm ? passes(try reader.value()) : false
    case .bool, .number: return passes(try reader.value())
    }
  }

  private func passes(_ value: DocumentValue) -> Bool {
    switch question {
    case .compare(let comparison, let literal):
      return Evaluator<DocumentSubject>.compares(value, comparison, literal.value)
    case .between(let low, let high):
      return Evaluator<DocumentSubject>.compares(value, .greaterOrEqual, low.value)
        && Evaluator<DocumentSubject>.compares(value, .lessOrEqual, high.value)
    case .member(let literals):
      return literals.contains { Evaluator<DocumentSubject>.compares(value, .equal, $0.value) }
    case .text(_, _, let pattern):
      return Evaluator<DocumentSubject>.isText(value) && pattern.matches(ValueOrder.text(value))
    case .isNull: return false
    }
  }

  private func passes(_ string: JSONReader.RawString) -> Bool {
    if string.isEscaped { return passes(.string(string.text)) }
    let bytes = string.bytes
    switch question {
    case .compare(let comparison, let literal):
      guard literal.rank == .text else { return false }
      switch comparison {
      case .equal: return Self.equal(bytes, literal.text)
      case .notEqual: return !Self.equal(bytes, literal.text)
      case .less: return Self.order(bytes, literal.text) < 0
      case .lessOrEqual: return Self.order(bytes, literal.text) <= 0
      case .greater: return Self.order(bytes, literal.text) > 0
      case .greaterOrEqual: return Self.order(bytes, literal.text) >= 0
      }
    case .between(let low, let high):
      return low.rank == .text && high.rank == .text && Self.order(bytes, low.text) >= 0
        && Self.order(bytes, high.text) <= 0
    case .member(let literals):
      return literals.contains { $0.rank == .text && Self.equal(bytes, $0.text) }
    case .text(let match, let pattern, let slow):
      switch match {
      case .beginsWith: return bytes.count >= pattern.count && bytes.starts(with: pattern)
      case .endsWith:
        return bytes.count >= pattern.count && bytes.suffix(pattern.count).elementsEqual(pattern)
      case .contains: return ByteSearch.contains(bytes, pattern)
      default: return slow.matches(string.text)
      }
    case .isNull: return false
    }
  }

  @inline(__always)
  private static func equal(_ bytes: UnsafeRawBufferPointer, _ text: [UInt8]) -> Bool {
    bytes.count == text.count && text.withUnsafeBytes { ByteSearch.compare(bytes, $0) == 0 }
  }

  @inline(__always)
  private static func order(_ bytes: UnsafeRawBufferPointer, _ text: [UInt8]) -> Int {
    text.withUnsafeBytes { ByteSearch.compare(bytes, $0) }
  }
}
