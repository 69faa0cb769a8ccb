// SPDX-License-Identifier: MIT

package import NanoDocument

extension Pipeline {
  /// The maximum number of buckets with automatic bounds. Arbitrary.
  static let maximumBuckets = 100_000
  /// The maximum depth of facets and unions in each other. Arbitrary.
  static let maximumDepth = 16
  /// The maximum number of stages that a row goes through, with those of facets and unions. Each passes it to the next by a
  /// call, and so many fit into 512 KiB of stack in a debug build.
  static let maximumLength = 100

  /// Checks the expressions, conditions, paths, names and numbers of all stages.
  ///
  /// - Throws: ``StoreError/Code/invalidPath``, ``StoreError/Code/invalidArgument``, ``StoreError/Code/tooComplex``,
  ///   ``StoreError/Code/unsupported``.
  package func validate() throws(StoreError) {
    try Self.validate(stages, depth: 0)
    guard Self.length(stages) <= Self.maximumLength else {
      throw StoreError(
        .tooComplex, "A pipeline has too many stages", [.limit: "\(Self.maximumLength) stages"])
    }
  }

  /// The largest number of stages that a row goes through.
  private static func length(_ stages: [Stage]) -> Int {
    stages.reduce(0) { length, stage in
      switch stage {
      case .union(let source): max(length, Self.length(source.stages)) + 1
      case .facets(let facets): length + 1 + (facets.map { Self.length($0.stages) }.max() ?? 0)
      default: length + 1
      }
    }
  }

  private static func validate(_ stages: [Stage], depth: Int) throws(StoreError) {
    guard depth <= maximumDepth else {
      throw StoreError(
        .tooComplex, "The stages of a pipeline are nested too deeply",
        [.limit: "\(maximumDepth) levels"])
    }
    for stage in stages { try validate(stage, depth: depth) }
  }

  private static func validate(_ stage: Stage, depth: Int) throws(StoreError) {
    switch stage {
    case .filter(let condition): try validate(condition)
    case .unwind(let unwind):
      try unwind.path.validate()
      try validate(names: [unwind.name, unwind.index].compactMap { $0 })
    case .extend(let fields): try validate(fields)
    case .select(let fields): try validate(fields)
    case .group(let grouping): try validate(grouping)
    case .sort(let orderings):
      for ordering in orderings { try validate(.truth(ordering.expression)) }
    case .limit(let limit, let offset, let expressions):
      guard limit >= 0, offset >= 0 else {
        throw StoreError(
          .invalidArgument, "A limit or offset is negative",
          [.actual: "\(limit < 0 ? limit : offset)"])
      }
      for expression in expressions { try validate(.truth(expression)) }
    case .union(let source):
      try source.query.validate()
      try validate(source.stages, depth: depth + 1)
    case .facets(let facets):
      guard !facets.isEmpty else {
        throw StoreError(.invalidArgument, "A pipeline has no facets")
      }
      try validate(names: facets.map(\.name))
      for facet in facets { try validate(facet.stages, depth: depth + 1) }
    }
  }

  private static func validate(_ grouping: Grouping) throws(StoreError) {
    var names: [String]
    switch grouping.keys {
    case .values(let keys):
      names = keys.map(\.name)
      for key in keys { try validate(.truth(key.expression)) }
    case .buckets(let buckets):
      names = [buckets.value.name]
      try validate(.truth(buckets.value.expression))
      guard (1...maximumBuckets).contains(buckets.count) else {
        throw StoreError(
          .invalidArgument, "The number of buckets is outside its range",
          [.expected: "1 to \(maximumBuckets)", .actual: "\(buckets.count)"])
      }
    }
    names += grouping.aggregates.map(\.name)
    try validate(names: names)
    for named in grouping.aggregates {
      let aggregate = named.aggregate
      if let operand = aggregate.operand {
        try validate(.truth(operand))
      } else if aggregate.function != .count || aggregate.isDistinct {
        throw StoreError(
          .invalidArgument, "An aggregate has no expression",
          [.expected: "an expression for \(aggregate.function.rawValue)"])
      }
      if let condition = aggregate.condition { try validate(condition) }
    }
  }

  private static func validate(_ fields: [NamedExpression]) throws(StoreError) {
    try validate(names: fields.map(\.name))
    for field in fields { try validate(.truth(field.expression)) }
  }

  private static func validate(_ condition: Condition) throws(StoreError) {
    try condition.validate()
    guard !condition.hasUnreadRelated else {
      throw StoreError(
        .unsupported, "A condition on related documents is not allowed in a stage of a pipeline",
        [.hint: "use it in the query that the pipeline starts with"])
    }
    guard !condition.searches else {
      throw StoreError(
        .invalidArgument, "A full-text search is not allowed in a stage of a pipeline",
        [.hint: "search in the query that the pipeline starts with"])
    }
  }

  private static func validate(names: [String]) throws(StoreError) {
    var seen: Set<ExactName> = []
    for name in names {
      guard !name.isEmpty, !name.utf8.contains(0) else {
        throw StoreError(.invalidPath, "The name of a row's field is empty or contains NUL")
      }
      guard seen.insert(ExactName(name)).inserted else {
        throw StoreError(
          .invalidArgument, "Two fields of a row have the same name",
          [.field: name, .hint: "give one of them another name"])
      }
    }
  }
}
