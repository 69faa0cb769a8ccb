// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
package import NanoQuery

/// Generates conditions, orderings and pages for generated documents.
///
/// Covers every node of the query tree. Most conditions compare a field with a constant that some document contains.
package struct ConditionGenerator: Sendable {
  package var values: ValueGenerator
  /// The documents in the collection, from which constants are drawn.
  package var documents: [DocumentObject] = []
  package var keys: [String] = []
  /// Fields to prefer, such as indexed fields.
  package var preferredPaths: [FieldPath] = []
  /// The collections of related documents; empty to generate no conditions on them.
  package var relatedCollections: [String] = []
  var isInElement = false

  /// Creates a generator that draws constants from the pools until ``documents`` is set.
  package init(random: SplitMix) { values = ValueGenerator(random: random) }

  /// Paths into generated documents; some match no field.
  package static let paths: [FieldPath] = [
    "a", "b", "a.b", "a.a", "list", "list.0", "list.1", "list.name", "list.0.name", "list.b",
    "list.a", #""x.y""#, "$d", "a.$date", "$date", "é", "e\u{301}", "name", "a.name", "b.name", "0",
    "x'\u{301}", "$\u{301}", "a.\u{301}x", "missing", "b.0", "name.first", "q\"t", "x.y",
    #""q""t""#, #"list."0""#, #"a."1""#, #"b."0""#, #"list."1".a"#,
  ]

  mutating func path() -> FieldPath {
    if isInElement, values.random.oneIn(3) { return .element }
    if !preferredPaths.isEmpty, values.random.oneIn(2) { return values.random.pick(preferredPaths) }
    return values.random.pick(Self.paths)
  }

  /// Returns a condition with at most the given depth; with depth 0, a condition on a single field.
  package mutating func condition(_ depth: Int) -> Condition {
    guard depth > 0, !values.random.oneIn(3) else { return leaf() }
    let next = depth - 1
    if !relatedCollections.isEmpty, values.random.oneIn(8) { return related(next) }
    switch values.random.number(0...11) {
    case 0, 1: return .all((0..<values.random.number(0...3)).map { _ in condition(next) })
    case 2, 3: return .any((0..<values.random.number(0...3)).map { _ in condition(next) })
    case 4, 5: return .not(condition(next))
    case 6:
      return .comparison(
        expression(next), values.random.pick(Comparison.allCases), expression(next))
    case 7:
      let match = textMatch()
      let pattern = match == .regexp ? regularExpression() : pattern()
      return .text(expression(next), match, pattern)
    case 8: return .between(expression(next), expression(next), expression(next))
    case 9:
      let list = (0..<values.random.number(0...3)).map { _ in expression(next) }
      return .membership(expression(next), list)
    case 10: return values.random.oneIn(2) ? element(next) : anyLeaf(next)
    default:
      switch values.random.number(0...2) {
      case 0: return .isNull(expression(next))
      case 1: return .same(expression(next), expression(next))
      default: return .truth(expression(next))
      }
    }
  }

  /// Returns a condition that indexes can evaluate: comparisons of preferred fields with constants.
  package mutating func simpleCondition() -> Condition {
    if values.random.oneIn(6) { return simpleLeaf() }
    let paths = preferredPaths.isEmpty ? Self.paths : preferredPaths
    let parts = (0..<values.random.pick([1, 1, 1, 2, 3])).map { _ in leaf(values.random.pick(paths))
    }
    if parts.count == 1 { return parts[0] }
    return values.random.oneIn(3) ? .any(parts) : .all(parts)
  }

  /// Returns a condition on a value at any path, possibly with a condition on the path.
  private mutating func simpleLeaf() -> Condition {
    var test = leaf(.element)
    if values.random.oneIn(4) { test = .any([test, leaf(.element)]) }
    if values.random.oneIn(4) { test = .all([test, leaf(.element)]) }
    let name = path().components.last ?? ""
    let position = QueryExpression.attribute(.leafPath)
    func text(_ match: TextMatch, _ pattern: String) -> Condition {
      .text(position, match, .value(.string(pattern)))
    }
    switch values.random.number(0...5) {
    case 0: return .leaf(.all([.comparison(position, .equal, .value(.string(name))), test]))
    case 1: return .leaf(.all([test, text(.endsWith, "." + name)]))
    case 2: return .leaf(.all([.any([text(.beginsWith, name), text(.contains, name)]), test]))
    case 3: return .leaf(.all([.not(text(.contains, name)), test]))
    default: return .leaf(test)
    }
  }

  private mutating func leaf() -> Condition { leaf(path()) }

  /// Returns a condition on one field and constants, of a kind that indexes can evaluate.
  private mutating func leaf(_ path: FieldPath) -> Condition {
    let field = QueryExpression.field(path)
    switch values.random.number(0...15) {
    case 0...5:
      return .comparison(field, values.random.pick(Comparison.allCases), constant(near: path))
    case 6: return .comparison(constant(near: path), values.random.pick(Comparison.allCases), field)
    case 7, 8: return .between(field, constant(near: path), constant(near: path))
    case 9, 10:
      let list = (0..<values.random.number(0...4)).map { _ in constant(near: path) }
      return .membership(field, list)
    case 11:
      return .text(field, values.random.pick([.beginsWith, .contains, .endsWith]), pattern())
    case 12: return .isNull(field)
    case 13: return .exists(path)
    case 14: return attribute()
    default: return values.random.oneIn(4) ? .constant(values.random.oneIn(2)) : .truth(field)
    }
  }

  private mutating func attribute() -> Condition {
    let attribute = values.random.pick(Attribute.allCases)
    let comparison = values.random.pick(Comparison.allCases)
    switch values.random.number(0...3) {
    case 0: return .isNull(.attribute(attribute))
    case 1:
      let list = (0..<values.random.number(0...3)).map { _ in constant(of: attribute) }
      return .membership(.attribute(attribute), list)
    default: return .comparison(.attribute(attribute), comparison, constant(of: attribute))
    }
  }

  private mutating func constant(of attribute: Attribute) -> QueryExpression {
    if values.random.oneIn(8) { return constant() }
    switch attribute {
    case .leafPath: return .value(.string(path().description))
    case .rowID: return .value(.int(Int64(values.random.number(0...12))))
    case .version: return .value(.int(Int64(values.random.number(0...2))))
    case .type: return .value(.string(values.random.pick(["Person", "Årstid", "x"])))
    case .key:
      return .value(
        .string(values.random.pick(keys + ["k1", "0190d1f0-0000-7000-8000-000000000001"])))
    case .added:
      let seconds = values.random.pick([0, 1, 1e-6, 2, 978_307_200, -1e-6])
      return .value(.date(Date(timeIntervalSince1970: seconds)))
    }
  }

  /// Returns a condition on related documents: usually one that engines can join, whose ends are single fields, keys or
  /// row IDs.
  package mutating func related(_ depth: Int) -> Condition {
    let outer = isInElement
    let local = relationEnd(depth)
    isInElement = false
    defer { isInElement = outer }
    let condition: Condition =
      values.random.oneIn(4)
      ? .constant(true) : values.random.oneIn(3) ? condition(depth) : simpleCondition()
    var related = RelatedCondition(
      local: local, collection: values.random.pick(relatedCollections), remote: relationEnd(depth),
      condition: condition)
    if values.random.oneIn(3) {
      related.comparison = values.random.pick(Comparison.allCases)
      related.bound = .value(.int(Int64(values.random.number(0...3))))
    }
    return values.random.oneIn(3) ? .not(.related(related)) : .related(related)
  }

  private mutating func relationEnd(_ depth: Int) -> QueryExpression {
    switch values.random.number(0...7) {
    case 0, 1: .attribute(.key)
    case 2: .attribute(.rowID)
    case 3: expression(depth)
    default: .field(path())
    }
  }

  private mutating func element(_ depth: Int) -> Condition {
    let (path, outer) = (path(), isInElement)
    isInElement = true
    defer { isInElement = outer }
    return .element(path, condition(depth))
  }

  private mutating func anyLeaf(_ depth: Int) -> Condition {
    let outer = isInElement
    isInElement = true
    defer { isInElement = outer }
    return .leaf(condition(depth))
  }

  mutating func textMatch() -> TextMatch {
    // A regular expression costs a hundred times as much as other matches.
    values.random.oneIn(12)
      ? .regexp : values.random.pick(TextMatch.allCases.filter { $0 != .regexp })
  }

  mutating func pattern() -> QueryExpression {
    switch values.random.number(0...7) {
    case 0: .field(path())
    case 1: constant()
    default: .value(values.value(.text))
    }
  }

  /// Returns a valid regular expression, or a field.
  private mutating func regularExpression() -> QueryExpression {
    if values.random.oneIn(6) { return .field(path()) }
    let patterns = ["a", "^a", "b$", "[a-c]+", "(?i)AB", "\\d+", ".", "é", ""]
    return .value(.string(values.random.pick(patterns)))
  }
}
