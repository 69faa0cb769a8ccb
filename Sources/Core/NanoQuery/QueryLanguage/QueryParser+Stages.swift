// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// Parses stages separated by `|>`, with an optional one before the first.
  mutating func wholePipeline() throws(StoreError) -> [Pipeline.Stage] {
    if isAtEnd { return [] }
    let stages = try stages(depth: 0)
    guard isAtEnd else { throw unexpected("|> or the end") }
    return stages
  }

  /// Parses an expression that is the whole text.
  mutating func wholeExpression() throws(StoreError) -> QueryExpression {
    let expression = try operand().expression
    guard isAtEnd else { throw unexpected("an operator or the end") }
    return expression
  }

  func rejectParameters() throws(StoreError) {
    for token in tokens {
      guard case .parameter = token.kind else { continue }
      throw source.error(
        "An expression of its own cannot have parameters", at: token.range, expected: "a literal")
    }
  }

  /// The start of a stage.
  private enum StageKind: String, CaseIterable {
    case `where` = "WHERE"
    case unwind = "UNWIND"
    case extend = "EXTEND"
    case select = "SELECT"
    case aggregate = "AGGREGATE"
    case group = "GROUP BY"
    case having = "HAVING"
    case order = "ORDER BY"
    case limit = "LIMIT"
    case union = "UNION ALL"
    case facet = "FACET"
  }

  private mutating func stages(depth: Int) throws(StoreError) -> [Pipeline.Stage] {
    guard depth <= Pipeline.maximumDepth else {
      throw error(
        "The stages of a pipeline are nested too deeply",
        expected: "at most \(Pipeline.maximumDepth) levels")
    }
    _ = take(.stage)
    var stages: [Pipeline.Stage] = []
    repeat { stages += try stage(depth) } while take(.stage)
    return stages
  }

  private mutating func takeStageKind() throws(StoreError) -> StageKind {
    let kind: StageKind?
    switch token.kind {
    case .keyword(.where): kind = .where
    case .keyword(.select): kind = .select
    case .keyword(.order): kind = .order
    case .keyword(.limit): kind = .limit
    case .word(let word):
      switch word {
      case "unwind": kind = .unwind
      case "extend": kind = .extend
      case "aggregate": kind = .aggregate
      case "group": kind = .group
      case "having": kind = .having
      case "union": kind = .union
      case "facet": kind = .facet
      default: kind = nil
      }
    default: kind = nil
    }
    guard let kind else {
      throw error(
        "A pipeline has an unknown stage",
        expected: StageKind.allCases.map(\.rawValue).joined(separator: ", "))
    }
    next += 1
    switch kind {
    case .order, .group: try expect(.by)
    case .union: try expect(word: "all")
    default: break
    }
    return kind
  }

  /// Parses one stage; `AGGREGATE … HAVING` yields two.
  private mutating func stage(_ depth: Int) throws(StoreError) -> [Pipeline.Stage] {
    switch try takeStageKind() {
    case .where, .having: return [.filter(try operand().condition)]
    case .unwind: return [.unwind(try unwind())]
    case .extend: return [.extend(try namedExpressions())]
    case .select: return [.select(try namedExpressions())]
    case .aggregate: return try grouping(try aggregates())
    case .group: return try grouping(keys: try groupKeys(), [])
    case .order: return [.sort(try orderings())]
    case .limit: return [try limit()]
    case .union: return [.union(try unionSource(depth))]
    case .facet: return [.facets(try facets(depth))]
    }
  }

  private mutating func grouping(
    _ aggregates: [Pipeline.NamedAggregate]
  ) throws(StoreError) -> [Pipeline.Stage] {
    guard take(word: "group") else { return try grouping(keys: .values([]), aggregates) }
    try expect(.by)
    return try grouping(keys: try groupKeys(), aggregates)
  }

  private mutating func grouping(
    keys: Pipeline.Grouping.Keys, _ aggregates: [Pipeline.NamedAggregate]
  ) throws(StoreError) -> [Pipeline.Stage] {
    let group = Pipeline.Stage.group(Pipeline.Grouping(keys, aggregates))
    guard take(word: "having") else { return [group] }
    return [group, .filter(try operand().condition)]
  }

  private mutating func groupKeys() throws(StoreError) -> Pipeline.Grouping.Keys {
    for (word, equalWidths) in [("buckets", false), ("width_buckets", true)]
    where isAt(word: word) && isAt(.leftParenthesis, ahead: 1) {
      next += 2
      let expression = try operand().expression
      try expect(.comma)
      let count = try integer()
      try expect(.rightParenthesis)
      let name = try name(of: expression)
      return .buckets(
        Pipeline.Buckets(
          Pipeline.NamedExpression(name, expression), count: count, equalWidths: equalWidths))
    }
    return .values(try namedExpressions())
  }

  /// Parses `[path] [AS name] [AT name] [KEEP EMPTY]`.
  private mutating func unwind() throws(StoreError) -> Pipeline.Unwind {
    var unwind = Pipeline.Unwind(try takePath())
    if take(.as) { unwind.name = try name() }
    if take(word: "at") { unwind.index = try name() }
    if take(word: "keep") {
      try expect(word: "empty")
      unwind.keepsEmpty = true
    }
    return unwind
  }

  /// Parses `n [OFFSET m] [PER expression, …]`.
  private mutating func limit() throws(StoreError) -> Pipeline.Stage {
    let limit = try integer()
    let offset = take(.offset) ? try integer() : 0
    var expressions: [QueryExpression] = []
    if take(word: "per") {
      repeat { expressions.append(try operand().expression) } while take(.comma)
    }
    return .limit(limit, offset: offset, per: expressions)
  }

  private mutating func unionSource(_ depth: Int) throws(StoreError) -> Pipeline.Source {
    let collection: String
    if case .text(let text) = token.kind {
      collection = text
      next += 1
    } else {
      collection = try name()
    }
    var stages: [Pipeline.Stage] = []
    if take(.leftParenthesis) {
      stages = try self.stages(depth: depth + 1)
      try expect(.rightParenthesis)
    }
    return Pipeline.Source(collection, Query(), stages)
  }

  private mutating func facets(_ depth: Int) throws(StoreError) -> [Pipeline.Facet] {
    var facets: [Pipeline.Facet] = []
    repeat {
      let name = try name()
      try expect(.leftParenthesis)
      facets.append(Pipeline.Facet(name, try stages(depth: depth + 1)))
      try expect(.rightParenthesis)
    } while take(.comma)
    return facets
  }

  private mutating func integer() throws(StoreError) -> Int {
    guard case .integer(let magnitude) = token.kind, let number = Int(exactly: magnitude) else {
      throw unexpected("an integer")
    }
    next += 1
    return number
  }
}

// MARK: Names

extension QueryParser {
  /// Parses `expression [AS name], …`.
  mutating func namedExpressions() throws(StoreError) -> [Pipeline.NamedExpression] {
    var list: [Pipeline.NamedExpression] = []
    repeat {
      let expression = try operand().expression
      list.append(Pipeline.NamedExpression(try name(of: expression), expression))
    } while take(.comma)
    return list
  }

  /// Parses the name after `AS`, or returns the name that an expression has without one.
  mutating func name(of expression: QueryExpression) throws(StoreError) -> String {
    if take(.as) { return try name() }
    guard let name = expression.defaultName else {
      throw error(
        "An expression of a row has no name", expected: "AS and a name",
        hint: "write [a] * 2 AS double")
    }
    return name
  }

  /// Parses the name of a row's field: a word, or a name in brackets.
  mutating func name() throws(StoreError) -> String {
    let name: String
    switch token.kind {
    case .word, .keyword: name = source.text(token.range)
    case .field(.path(let path)) where path.components.count == 1: name = path.components[0]
    default: throw error("The name of a row's field is malformed", expected: "a word or [name]")
    }
    next += 1
    return name
  }

  func isAt(word: String) -> Bool {
    if case .word(word) = token.kind { true } else { false }
  }

  mutating func take(word: String) -> Bool {
    guard isAt(word: word) else { return false }
    next += 1
    return true
  }

  mutating func expect(word: String) throws(StoreError) {
    guard take(word: word) else { throw unexpected(word.uppercased()) }
  }
}

extension QueryExpression {
  /// The name of the expression in a row: the last name of a path, or the name of a function.
  package var defaultName: String? {
    switch self {
    case .field(let path) where !path.isElement: path.components.last
    case .function(let function, _): function.rawValue
    case .attribute(let attribute): attribute.rawValue
    default: nil
    }
  }
}
