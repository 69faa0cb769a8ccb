// SPDX-License-Identifier: MIT

package import NanoDocument

extension Pipeline {
  /// All collections that the pipeline reads in addition to that of its query, with their queries.
  package var sources: [Source] { Self.sources(stages) }

  private static func sources(_ stages: [Stage]) -> [Source] {
    stages.flatMap { (stage) -> [Source] in
      switch stage {
      case .union(let source): return [source] + sources(source.stages)
      case .facets(let facets): return facets.flatMap { sources($0.stages) }
      default: return []
      }
    }
  }

  /// The collections that the pipeline reads in addition to those of its query.
  package var otherCollections: Set<ExactName> {
    sources.reduce(into: []) { names, source in
      names.insert(ExactName(source.collection))
      names.formUnion(source.query.relatedCollections)
    }
  }

  /// The names of a document's top-level fields that a list of stages uses, or `nil` for all.
  static func usedNames(_ stages: ArraySlice<Stage>) -> Set<ExactName>? {
    var names: Set<ExactName> = []
    for index in stages.indices {
      let stage = stages[index]
      guard !stage.hasLeafConditions else { return nil }
      switch stage {
      case .facets(let facets):
        for facet in facets {
          guard let used = usedNames(facet.stages[...]) else { return nil }
          names.formUnion(used)
        }
        return names
      default: names.formUnion(stage.fields.lazy.map { ExactName($0.components[0]) })
      }
      if stage.replacesFields { return names }
    }
    return nil
  }

  /// The fields of documents that the pipeline uses: those of all stages until the fields are replaced.
  package var documentFields: [FieldPath] {
    var fields: [FieldPath] = []
    var created: Set<ExactName> = []
    for stage in stages {
      fields += stage.fields.filter { !created.contains(ExactName($0.components[0])) }
      if stage.replacesFields { break }
      // Later stages may use other rows, whose fields are those of another collection.
      if case .union = stage { break }
      created.formUnion(stage.createdNames.map { ExactName($0) })
    }
    return fields
  }

  /// Whether a stage uses document metadata.
  static func usesAttributes(_ stages: [Stage]) -> Bool {
    stages.contains { (stage) -> Bool in
      switch stage {
      case .facets(let facets): return facets.contains { usesAttributes($0.stages) }
      default: return stage.conditions.contains(where: \.usesAttributes)
      }
    }
  }
}

extension Pipeline.Stage {
  /// Whether the rows after the stage have only fields that it names.
  var replacesFields: Bool {
    switch self {
    case .select, .group, .facets: true
    case .filter, .unwind, .extend, .sort, .limit, .union: false
    }
  }

  /// The names of the fields that the stage adds.
  var createdNames: [String] {
    switch self {
    case .unwind(let unwind): [unwind.name, unwind.index].compactMap { $0 }
    case .extend(let fields): fields.map(\.name)
    default: []
    }
  }

  /// The conditions and expressions of the stage, without those of inner stages.
  var conditions: [Condition] {
    switch self {
    case .filter(let condition): [condition]
    case .unwind, .union, .facets: []
    case .extend(let fields), .select(let fields): fields.map { .truth($0.expression) }
    case .sort(let orderings): orderings.map { .truth($0.expression) }
    case .limit(_, _, let expressions): expressions.map { .truth($0) }
    case .group(let grouping):
      grouping.keyExpressions.map { .truth($0) }
        + grouping.aggregates.flatMap { named in
          (named.aggregate.operand.map { [.truth($0)] } ?? [])
            + (named.aggregate.condition.map { [$0] } ?? [])
        }
    }
  }

  var fields: [FieldPath] {
    let fields = conditions.flatMap(\.fields).filter { !$0.isElement }
    if case .unwind(let unwind) = self { return fields + [unwind.path] }
    if case .facets(let facets) = self {
      return fields + facets.flatMap { Pipeline($0.stages).documentFields }
    }
    return fields
  }

  var hasLeafConditions: Bool { conditions.contains(where: \.hasLeafConditions) }
}

extension Pipeline.Grouping {
  var keyExpressions: [QueryExpression] {
    switch keys {
    case .values(let keys): keys.map(\.expression)
    case .buckets(let buckets): [buckets.value.expression]
    }
  }
}
