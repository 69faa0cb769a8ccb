// SPDX-License-Identifier: MIT

import NanoDocument

/// A part of a condition, compiled for evaluation on bytes. Classes rather than enum cases, because
/// matching a case copies its payload for every document.
class MatcherNode {
  typealias Attributes = (Attribute) -> DocumentValue

  func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool { true }

  static func make(
    _ condition: Condition, _ paths: [FieldPath: BytePath], _ defaults: FieldDefaults? = nil
  ) throws(StoreError) -> MatcherNode {
    switch condition {
    case .constant(let truth): return ConstantNode(truth)
    case .all(let parts): return AllNode(try make(parts, paths, defaults))
    case .any(let parts): return AnyNode(try make(parts, paths, defaults))
    case .not(let part): return NotNode(try make(part, paths, defaults))
    case .leaf(let inner):
      let fallback = EvaluatedNode(condition, paths)
      guard let check = try LeafCheck.make(inner) else { return fallback }
      return LeafNode(check, LeafPrefilter(inner), fallback: fallback)
    case .search(let search): return FullTextNode(try search.matcher(), paths)
    case .related(let related):
      guard defaults == nil, case .field(let field) = related.local, let path = paths[field] else {
        return EvaluatedNode(condition, paths, defaults)
      }
      return RelatedNode(path, related)
    case _ where defaults != nil: return try make(condition, paths, applying: defaults)
    case .exists(let path):
      return paths[path].map(ExistsNode.init) ?? EvaluatedNode(condition, paths)
    default:
      guard let path = singleField(condition).flatMap({ paths[$0] }),
        let matcher = try ValueMatcher.make(condition)
      else { return EvaluatedNode(condition, paths) }
      if case .isNull = condition { return NullNode(path) }
      return ValueNode(path, matcher)
    }
  }

  private static func make(
    _ parts: [Condition], _ paths: [FieldPath: BytePath], _ defaults: FieldDefaults?
  ) throws(StoreError) -> [MatcherNode] {
    var nodes: [MatcherNode] = []
    for part in parts { nodes.append(try make(part, paths, defaults)) }
    return nodes
  }

  /// Compiles a condition with defaults: on the stored bytes if it can be rewritten that way, otherwise
  /// for the evaluator.
  private static func make(
    _ condition: Condition, _ paths: [FieldPath: BytePath], applying defaults: FieldDefaults?
  ) throws(StoreError) -> MatcherNode {
    guard let stored = defaults.flatMap(condition.asStored) else {
      return EvaluatedNode(condition, paths, defaults)
    }
    return try make(stored, paths)
  }

  private static func singleField(_ condition: Condition) -> FieldPath? {
    switch condition {
    case .comparison(.field(let path), _, .value), .comparison(.value, _, .field(let path)),
      .between(.field(let path), _, _), .membership(.field(let path), _),
      .text(.field(let path), _, _), .isNull(.field(let path)):
      path
    default: nil
    }
  }
}

private final class ConstantNode: MatcherNode {
  let truth: Bool
  init(_ truth: Bool) { self.truth = truth }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool { truth }
}

private final class AllNode: MatcherNode {
  let parts: [MatcherNode]
  init(_ parts: [MatcherNode]) { self.parts = parts }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    for part in parts where try !part.holds(&document, attributes) { return false }
    return true
  }
}

private final class AnyNode: MatcherNode {
  let parts: [MatcherNode]
  init(_ parts: [MatcherNode]) { self.parts = parts }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    for part in parts where try part.holds(&document, attributes) { return true }
    return false
  }
}

private final class NotNode: MatcherNode {
  let part: MatcherNode
  init(_ part: MatcherNode) { self.part = part }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool { try !part.holds(&document, attributes) }
}

/// Some value at the path satisfies a check.
private final class ValueNode: MatcherNode {
  let path: BytePath
  let matcher: ValueMatcher
  init(_ path: BytePath, _ matcher: ValueMatcher) {
    self.path = path
    self.matcher = matcher
  }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    if path.rest.isEmpty {
      guard var value = try document.field(path.first) else { return false }
      guard value.kind() == .array else { return try matcher.passes(value) }
    }
    return try document.values(path) { (value) throws(StoreError) in try matcher.passes(value) }
  }
}

/// Some value at the path is null, or there is none.
private final class NullNode: MatcherNode {
  let path: BytePath
  init(_ path: BytePath) { self.path = path }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    var isEmpty = true
    let hasNull = try document.values(path) { (value) throws(StoreError) in
      isEmpty = false
      var value = value
      return value.kind() == .null
    }
    return hasNull || isEmpty
  }
}

private final class ExistsNode: MatcherNode {
  let path: BytePath
  init(_ path: BytePath) { self.path = path }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool { try document.ends(path) { _ in true } }
}

/// A condition evaluated by the evaluator on the fields it references.
private final class EvaluatedNode: MatcherNode {
  let condition: Condition
  let fields: [FieldPath]
  let hasLeafConditions: Bool
  let paths: [FieldPath: BytePath]
  let defaults: FieldDefaults?
  private let budget = EvaluationBudget()
  init(
    _ condition: Condition, _ paths: [FieldPath: BytePath], _ defaults: FieldDefaults? = nil
  ) {
    self.condition = condition
    self.paths = paths
    self.defaults = defaults
    fields = condition.fields
    hasLeafConditions = condition.hasLeafConditions
  }
  override func holds(
    _ document: inout DocumentBytes, _ attributes: Attributes
  ) throws(StoreError) -> Bool {
    let subject = try StoredSubject(
      fields, paths, &document, attributes, defaults, hasLeafConditions: hasLeafConditions)
    budget.reset()
    return try Evaluator(subject, budget).holds(condition)
  }
}
