// SPDX-License-Identifier: MIT

package import NanoDocument

extension Condition {
  /// Whether the condition contains a condition on related documents, at any depth.
  package var hasRelated: Bool { containsRelated { _ in true } }

  /// Whether the condition contains a condition on related documents that have not been read.
  package var hasUnreadRelated: Bool { containsRelated { $0.matches == nil } }

  fileprivate func containsRelated(_ test: (RelatedCondition) -> Bool) -> Bool {
    switch self {
    case .constant, .exists, .search: return false
    case .all(let parts), .any(let parts):
      for part in parts where part.containsRelated(test) { return true }
      return false
    case .not(let part), .element(_, let part), .leaf(let part): return part.containsRelated(test)
    case .comparison(let left, _, let right), .text(let left, _, let right),
      .same(let left, let right):
      return left.containsRelated(test) || right.containsRelated(test)
    case .membership(let operand, let list):
      if operand.containsRelated(test) { return true }
      for item in list where item.containsRelated(test) { return true }
      return false
    case .between(let operand, let low, let high):
      return operand.containsRelated(test) || low.containsRelated(test)
        || high.containsRelated(test)
    case .isNull(let operand), .truth(let operand): return operand.containsRelated(test)
    case .related(let related): return test(related) || related.local.containsRelated(test)
    }
  }

  /// The collections whose documents decide the condition besides the document itself, including those of nested
  /// conditions.
  package var relatedCollections: Set<ExactName> {
    guard hasUnreadRelated else { return [] }
    var names: Set<ExactName> = []
    func add(_ condition: Condition) {
      _ = condition.replacingRelated { related in
        guard related.matches == nil else { return .constant(true) }
        names.insert(ExactName(related.collection))
        add(related.condition)
        add(.truth(related.remote))
        return .constant(true)
      }
    }
    add(self)
    return names
  }

  /// Returns the condition with each condition on related documents replaced. Conditions that such a condition
  /// contains are left to the closure.
  package func replacingRelated<E: Error>(
    _ replacement: (RelatedCondition) throws(E) -> Condition
  ) throws(E) -> Condition {
    func all(_ conditions: [Condition]) throws(E) -> [Condition] {
      var replaced: [Condition] = []
      for condition in conditions { replaced.append(try condition.replacingRelated(replacement)) }
      return replaced
    }
    func one(_ expression: QueryExpression) throws(E) -> QueryExpression {
      try expression.replacingRelated(replacement)
    }
    switch self {
    case .constant, .exists, .search: return self
    case .all(let parts): return .all(try all(parts))
    case .any(let parts): return .any(try all(parts))
    case .not(let part): return .not(try part.replacingRelated(replacement))
    case .comparison(let left, let comparison, let right):
      return .comparison(try one(left), comparison, try one(right))
    case .text(let left, let match, let right):
      return .text(try one(left), match, try one(right))
    case .same(let left, let right): return .same(try one(left), try one(right))
    case .membership(let operand, let list):
      var items: [QueryExpression] = []
      for item in list { items.append(try one(item)) }
      return .membership(try one(operand), items)
    case .between(let operand, let low, let high):
      return .between(try one(operand), try one(low), try one(high))
    case .isNull(let operand): return .isNull(try one(operand))
    case .leaf(let part): return .leaf(try part.replacingRelated(replacement))
    case .element(let path, let part): return .element(path, try part.replacingRelated(replacement))
    case .truth(let operand): return .truth(try one(operand))
    case .related(var related):
      related.local = try one(related.local)
      return try replacement(related)
    }
  }
}

extension QueryExpression {
  /// Whether the expression contains a condition on related documents.
  package var hasRelated: Bool { containsRelated { _ in true } }

  fileprivate func containsRelated(_ test: (RelatedCondition) -> Bool) -> Bool {
    switch self {
    case .truth(let condition): return condition.containsRelated(test)
    case .negated(let operand), .cast(let operand, _): return operand.containsRelated(test)
    case .arithmetic(let left, _, let right):
      return left.containsRelated(test) || right.containsRelated(test)
    case .function(_, let operands):
      for operand in operands where operand.containsRelated(test) { return true }
      return false
    case .choice(let branches, let otherwise):
      for branch in branches
      where branch.condition.containsRelated(test) || branch.value.containsRelated(test) {
        return true
      }
      return otherwise.containsRelated(test)
    case .elements(let operand, let condition, let value):
      return operand.containsRelated(test) || condition.containsRelated(test)
        || value.containsRelated(test)
    default: return false
    }
  }

  fileprivate func replacingRelated<E: Error>(
    _ replacement: (RelatedCondition) throws(E) -> Condition
  ) throws(E) -> QueryExpression {
    guard hasRelated else { return self }
    switch self {
    case .truth(let condition): return .truth(try condition.replacingRelated(replacement))
    case .choice(let branches, let otherwise):
      var replaced: [Branch] = []
      for branch in branches {
        replaced.append(
          Branch(
            when: try branch.condition.replacingRelated(replacement),
            then: try branch.value.replacingRelated(replacement)))
      }
      return .choice(replaced, otherwise: try otherwise.replacingRelated(replacement))
    case .negated(let operand): return .negated(try operand.replacingRelated(replacement))
    case .cast(let operand, let type):
      return .cast(try operand.replacingRelated(replacement), type)
    case .arithmetic(let left, let operation, let right):
      return .arithmetic(
        try left.replacingRelated(replacement), operation, try right.replacingRelated(replacement))
    case .function(let function, let operands):
      var replaced: [QueryExpression] = []
      for operand in operands { replaced.append(try operand.replacingRelated(replacement)) }
      return .function(function, replaced)
    case .elements(let operand, let condition, let value):
      return .elements(
        try operand.replacingRelated(replacement),
        where: try condition.replacingRelated(replacement),
        select: try value.replacingRelated(replacement))
    default: return self
    }
  }
}

extension Query {
  /// Whether the condition or an ordering depends on related documents.
  package var hasRelated: Bool {
    condition.hasRelated || orderings.contains { $0.expression.hasRelated }
  }

  /// The collections that the query reads besides its own.
  package var relatedCollections: Set<ExactName> {
    guard hasRelated else { return [] }
    return orderings.reduce(into: condition.relatedCollections) { names, ordering in
      names.formUnion(Condition.truth(ordering.expression).relatedCollections)
    }
  }

  /// Returns the query with each condition on related documents replaced.
  package func replacingRelated<E: Error>(
    _ replacement: (RelatedCondition) throws(E) -> Condition
  ) throws(E) -> Query {
    guard hasRelated else { return self }
    var query = self
    query.condition = try condition.replacingRelated(replacement)
    var orderings: [Ordering] = []
    for ordering in self.orderings {
      orderings.append(
        Ordering(
          try ordering.expression.replacingRelated(replacement), descending: ordering.descending))
    }
    query.orderings = orderings
    return query
  }
}
