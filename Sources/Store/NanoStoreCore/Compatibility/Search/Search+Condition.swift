// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

extension Search {
  /// The condition that documents must satisfy.
  public var condition: Condition {
    var parts: [Condition] = []
    if expressions.isEmpty {
      if let criteria { parts.append(criteria) }
    } else {
      parts += expressions.map { .leaf($0.condition) }
    }
    if let type { parts.append(.type(type)) }
    if let added { parts.append(added.condition) }
    return parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .all(parts)
  }

  /// The condition on key, attribute and value; nil if none of them is set.
  private var criteria: Condition? {
    var parts: [Condition] = []
    if let key {
      let isAlone = attribute == nil && value == nil
      parts.append(.key(isAlone ? match : .equalTo, key))
    }
    if let leaf = leafCondition {
      parts.append(Self.indexable(attribute, value, match) ?? .leaf(leaf))
    }
    return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .all(parts)
  }

  /// The condition on a single leaf; nil if neither attribute nor value is set.
  var leafCondition: Condition? {
    var parts: [Condition] = []
    if let attribute { parts.append(Self.attribute(attribute, match, hasValue: value != nil)) }
    if let value { parts.append(SearchValue.condition(value, match)) }
    return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .all(parts)
  }

  /// A full path with a value becomes a plain condition on that field, which an index can serve.
  /// Paths with numeric components do not: in a field path, a number would address an element.
  private static func indexable(
    _ attribute: String?, _ value: DocumentValue?, _ match: Match
  ) -> Condition? {
    guard let attribute, let value, attribute.utf8.contains(UInt8(ascii: ".")), match == .equalTo,
      case .string(let text) = value, SearchValue.number(text) == nil
    else { return nil }
    let path = FieldPath(attribute)
    guard path.isValid, !path.addressesElement else { return nil }
    return .comparison(.field(path), .equal, .value(value))
  }

  /// Without a period, the name matches any component of the leaf's path. With a period, it matches
  /// the full path, or, without a value, any matching path.
  private static func attribute(_ name: String, _ match: Match, hasValue: Bool) -> Condition {
    let path = QueryExpression.attribute(.leafPath)
    func text(_ match: TextMatch, _ text: String) -> Condition {
      .text(path, match, .value(.string(text)))
    }
    if name.utf8.contains(UInt8(ascii: ".")) {
      return SearchValue.text(path, hasValue ? .equalTo : match, name)
    }
    return .any([
      .comparison(path, .equal, .value(.string(name))), text(.beginsWith, name + "."),
      text(.contains, ".\(name)."), text(.endsWith, "." + name),
    ])
  }
}

extension SearchExpression {
  /// The condition on a single leaf, in disjunctive normal form.
  var condition: Condition {
    var choices: [[Condition]] = [[first.condition]]
    for link in links {
      switch link.operator {
      case .and: choices[choices.count - 1].append(link.predicate.condition)
      case .or: choices.append([link.predicate.condition])
      }
    }
    let parts = choices.map { $0.count == 1 ? $0[0] : Condition.all($0) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }
}

extension SearchPredicate {
  var condition: Condition {
    switch self {
    case .key(let match, let key): SearchValue.text(.attribute(.key), match, key)
    case .attribute(let match, let path): SearchValue.text(.attribute(.leafPath), match, path)
    case .value(let match, let value): SearchValue.condition(value, match)
    }
  }
}

/// How the value of a search is compared with a leaf.
enum SearchValue {
  private static let leaf = QueryExpression.field(.element)

  static func condition(_ value: DocumentValue, _ match: Match) -> Condition {
    switch value {
    case .null: return match == .notEqualTo ? .not(.isNull(leaf)) : .isNull(leaf)
    case .array(let list): return .any(list.map { condition($0, .equalTo) })
    case .string(let string):
      let asText = text(leaf, match, string)
      guard let comparison = match.comparison else {
        // A number is found by a part of its text.
        guard !string.isEmpty, string.utf8.allSatisfy(isNumeric) else { return asText }
        let isNumber = Condition.comparison(leaf, .greaterOrEqual, .value(.double(-.infinity)))
        return .any([asText, .all([isNumber, text(.cast(leaf, .text), match, string)])])
      }
      guard let number = number(string) else { return asText }
      let asNumber = Condition.comparison(leaf, comparison, .value(number))
      // Every string that is not a number would compare greater than the digits.
      return match == .greaterThan || match == .lessThan ? asNumber : .any([asText, asNumber])
    default:
      guard let comparison = match.comparison else {
        return text(leaf, match, value.jsonString(dialect: .plain))
      }
      return .comparison(leaf, comparison, .value(value))
    }
  }

  /// Returns a condition that compares strings.
  static func text(_ operand: QueryExpression, _ match: Match, _ text: String) -> Condition {
    let pattern = QueryExpression.value(.string(text))
    if let comparison = match.comparison { return .comparison(operand, comparison, pattern) }
    let textMatch: TextMatch =
      switch match {
      case .beginsWith: .beginsWith
      case .endsWith: .endsWith
      case .insensitiveEqualTo: .insensitiveEqualTo
      case .insensitiveBeginsWith: .insensitiveBeginsWith
      case .insensitiveContains: .insensitiveContains
      case .insensitiveEndsWith: .insensitiveEndsWith
      default: .contains
      }
    return .text(operand, textMatch, pattern)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  private static func isNumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || "+-.eE".utf8.contains(byte)
  }

  /// The number that the entire string represents, if any.
  static func number(_ text: String) -> DocumentValue? {
    // `Int64` and `Double` also read a leading plus, hexadecimal digits and names such as "nan".
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || isDigit(first),
      text.utf8.allSatisfy(isNumeric)
    else { return nil }
    if let integer = Int64(text) { return .int(integer) }
    guard let double = Double(text), double.isFinite else { return nil }
    return .double(double)
  }
}

extension Match {
  /// The equivalent comparison operator, if there is one.
  var comparison: Comparison? {
    switch self {
    case .equalTo: .equal
    case .notEqualTo: .notEqual
    case .greaterThan: .greater
    case .lessThan: .less
    default: nil
    }
  }
}
