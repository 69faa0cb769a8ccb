// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

/// Generates trees as the parser produces them: no `all` inside an `all`, no truth of a truth, no `IS NULL` written
/// as `IS`.
struct RandomTrees {
  var random: SplitMix
  private var isInElement = false

  init(random: SplitMix) { self.random = random }

  mutating func pick<T>(_ list: [T]) -> T { list.randomElement(using: &random)! }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func condition(_ depth: Int) -> Condition {
    guard depth > 0 else { return leaf() }
    let next = depth - 1
    switch number(0...13) {
    case 0: return .all(parts(next) { if case .all = $0 { true } else { false } })
    case 1: return .any(parts(next) { if case .any = $0 { true } else { false } })
    case 2, 3: return .not(condition(next))
    case 4: return .comparison(expression(next), pick(Comparison.allCases), expression(next))
    case 5: return .text(expression(next), pick(TextMatch.allCases), expression(next))
    case 6: return .membership(expression(next), list(next, 0...3))
    case 7: return .between(expression(next), expression(next), expression(next))
    case 8: return .isNull(expression(next))
    case 9:
      let right = expression(next)
      return right == .value(.null) ? .isNull(expression(next)) : .same(expression(next), right)
    case 10:
      let (path, outer) = (path(), isInElement)
      isInElement = true
      defer { isInElement = outer }
      return .element(path, condition(next))
    case 11: return truth(expression(next))
    case 12: return .related(related(next))
    default: return leaf()
    }
  }

  private mutating func related(_ depth: Int) -> RelatedCondition {
    let local = expression(depth)
    let outer = isInElement
    isInElement = false
    defer { isInElement = outer }
    var related = RelatedCondition(
      local: local, collection: pick(["films", "my films", "select", "é", "a.b", "__key__", "x"]),
      remote: expression(depth), condition: condition(depth))
    guard number(0...1) == 0 else { return related }
    related.comparison = pick(Comparison.allCases)
    related.bound = pick([.value(.int(1)), .value(.int(3)), .parameter(.position(1))])
    return related
  }

  private mutating func leaf() -> Condition {
    switch number(0...3) {
    case 0: .constant(pick([true, false]))
    case 1: .exists(path())
    case 2: truth(expression(0))
    default: .comparison(expression(0), pick(Comparison.allCases), expression(0))
    }
  }

  private func truth(_ expression: QueryExpression) -> Condition {
    switch expression {
    case .truth(let condition): condition
    case .value(.bool(let value)): .constant(value)
    default: .truth(expression)
    }
  }

  private mutating func parts(_ depth: Int, _ isSame: (Condition) -> Bool) -> [Condition] {
    (0..<number(2...4)).map { _ in
      let part = condition(depth)
      return isSame(part) ? .isNull(expression(0)) : part
    }
  }

  private mutating func list(_ depth: Int, _ count: ClosedRange<Int>) -> [QueryExpression] {
    (0..<number(count)).map { _ in expression(depth) }
  }

  mutating func expression(_ depth: Int) -> QueryExpression {
    guard depth > 0 else { return expressionLeaf() }
    let next = depth - 1
    switch number(0...6) {
    case 0: return .negated(expression(next))
    case 1, 2:
      return .arithmetic(expression(next), pick(Array(Arithmetic.allCases)), expression(next))
    case 3:
      let function = pick(Array(Function.allCases))
      let arity = function.arity
      let operands = list(next, arity.lowerBound...min(arity.upperBound, arity.lowerBound + 2))
      let call = QueryExpression.function(function, operands)
      // A constant that is no unit or time zone is an error when the text is parsed.
      return (try? call.validateConstants()) == nil ? operands[0] : call
    case 4: return .cast(expression(next), pick(Array(CastType.allCases)))
    case 5:
      let branches = (0..<number(1...3)).map { _ in
        QueryExpression.Branch(when: condition(next), then: expression(next))
      }
      return .choice(branches, otherwise: expression(next))
    default:
      let condition = condition(next)
      if case .constant(let value) = condition { return .value(.bool(value)) }
      if case .truth(let expression) = condition { return expression }
      return .truth(condition)
    }
  }

  private mutating func expressionLeaf() -> QueryExpression {
    switch number(0...9) {
    case 0: .attribute(pick(Array(Attribute.allCases)))
    case 1: .parameter(pick([.position(1), .position(7), .name("n"), .name("größe")]))
    case 2...4: .value(value(2))
    default: .field(path())
    }
  }

  mutating func value(_ depth: Int) -> DocumentValue {
    switch number(0...(depth > 0 ? 10 : 8)) {
    case 0: .null
    case 1: .bool(pick([true, false]))
    case 2: .int(pick([0, 1, -1, .min, .max, 42]))
    case 3: .int(Int64.random(in: .min ... .max, using: &random))
    case 4:
      .double(
        pick([0, -0.0, 1, -1.5, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300, 0x1p63, 0.1]))
    case 5: .date(Date(timeIntervalSinceReferenceDate: Double(number(-1_000_000...1_000_000)) / 64))
    case 6: .data(Data((0..<number(0...3)).map { _ in UInt8.random(in: 0...255, using: &random) }))
    case 7:
      .url(URL(string: pick(["https://example.org/a?b='c'", "file:///x%20y", "mailto:a@b.c"]))!)
    case 9: .array((0..<number(0...3)).map { _ in value(depth - 1) })
    case 10:
      .object(DocumentObject((0..<number(0...2)).map { ("k\($0)'", value(depth - 1)) }))
    default: .string(name())
    }
  }

  private mutating func name() -> String {
    let scalars: [Unicode.Scalar] = [
      "a", "b", ".", "'", "\"", "]", "[", " ", "@", "-", "\n", "é", "\u{301}", "🙂", "%", "?", "0",
    ]
    var name = String.UnicodeScalarView()
    for _ in 0..<number(1...4) { name.append(pick(scalars)) }
    return String(name)
  }

  private mutating func path() -> FieldPath {
    if isInElement, number(0...4) == 0 { return .element }
    let names = ["a", "b", "0", "__key__", "__rowid__", "@", "select", name()]
    let quotedNumber = FieldPath(#""0""#)
    return (0..<number(0...2)).reduce(FieldPath(components: [pick(names)])) { path, _ in
      path.appending(number(0...5) == 0 ? quotedNumber : FieldPath(components: [pick(names)]))
    }
  }
}
