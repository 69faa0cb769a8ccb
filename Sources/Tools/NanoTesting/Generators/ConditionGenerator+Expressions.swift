// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery

extension ConditionGenerator {
  mutating func expression(_ depth: Int) -> QueryExpression {
    guard depth > 0, !values.random.oneIn(2) else { return expressionLeaf() }
    let next = depth - 1
    switch values.random.number(0...8) {
    case 0: return .negated(expression(next))
    case 1, 2:
      return .arithmetic(
        expression(next), values.random.pick(Arithmetic.allCases), expression(next))
    case 3:
      let function = values.random.pick(Function.allCases)
      let arity = function.arity
      let count = values.random.number(
        arity.lowerBound...min(arity.upperBound, arity.lowerBound + 2))
      let operands = (0..<count).map { _ in expression(next) }
      let call = QueryExpression.function(function, operands)
      // A constant that is no unit or time zone is an error, also when the text is parsed.
      return (try? call.validateConstants()) == nil ? operands[0] : call
    case 4: return .cast(expression(next), values.random.pick(CastType.allCases))
    case 5:
      let branches = (0..<values.random.number(1...2)).map { _ in
        QueryExpression.Branch(when: condition(next), then: expression(next))
      }
      return .choice(branches, otherwise: expression(next))
    case 6: return .truth(condition(next))
    case 7: return dateExpression(next)
    default:
      let operand = values.random.oneIn(4) ? expression(next) : .field(path())
      let outer = isInElement
      isInElement = true
      defer { isInElement = outer }
      return .elements(
        operand, where: condition(next),
        select: values.random.oneIn(2) ? .field(.element) : expression(next))
    }
  }

  /// Returns a call of a date function with a unit, time zone and format that exist, usually.
  private mutating func dateExpression(_ depth: Int) -> QueryExpression {
    let units = ["second", "minutes", "HOUR", "day", "week", "month", "quarter", "years"]
    let zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "-05:00"]
    let unit = QueryExpression.value(.string(values.random.pick(units)))
    let zone: [QueryExpression] =
      values.random.oneIn(2) ? [.value(.string(values.random.pick(zones)))] : []
    let operand = expression(depth)
    switch values.random.number(0...4) {
    case 0: return .function(.dateTrunc, [unit, operand] + zone)
    case 1:
      let count = QueryExpression.value(.int(Int64(values.random.number(-40...40))))
      return .function(.dateAdd, [unit, count, operand] + zone)
    case 2: return .function(.dateDiff, [unit, operand, expression(depth)] + zone)
    case 3: return .function(.dateFormat, [operand, .value("%G-W%V-%u %F %T.%L %z")] + zone)
    default:
      let parts: [Function] = [.year, .quarter, .week, .isoYear, .weekday, .dayOfYear, .hour]
      return .function(values.random.pick(parts), [operand] + zone)
    }
  }

  private mutating func expressionLeaf() -> QueryExpression {
    switch values.random.number(0...9) {
    case 0: .attribute(values.random.pick(Attribute.allCases))
    case 1...3: constant()
    default: .field(path())
    }
  }

  mutating func constant() -> QueryExpression {
    .value(values.value(values.random.pick([.mixed, .int, .text, .number, .amount])))
  }

  /// Returns a constant, usually a value that some document has at the path, or an adjacent value.
  mutating func constant(near path: FieldPath) -> QueryExpression {
    guard !documents.isEmpty, !values.random.oneIn(4) else { return constant() }
    let found = PathValues.values(in: .object(values.random.pick(documents)), at: path)
    guard !found.isEmpty else { return constant() }
    return .value(adjacentValue(values.random.pick(found)))
  }

  private mutating func adjacentValue(_ value: DocumentValue) -> DocumentValue {
    guard values.random.oneIn(4) else { return value }
    switch value {
    case .int(let number): return .double(Double(number))
    case .double(let number):
      return values.random.oneIn(2)
        ? .double(number.nextUp) : .int(Int64(exactly: number) ?? 7)
    case .decimal(let number): return .double(number.nearestDouble)
    case .string(let text): return .string(String(text.dropLast()))
    case .date(let date):
      return .date(
        .init(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp))
    case .url(let url): return .string(url.absoluteString)
    case .bool(let flag): return .int(flag ? 1 : 0)
    default: return value
    }
  }

  /// Returns the condition, converted to query text and parsed again half of the time.
  package mutating func roundTrippedThroughText(_ condition: Condition) throws -> Condition {
    values.random.oneIn(2) ? try QueryText(condition.queryText).condition : condition
  }

  /// Returns an ordering, usually by a field.
  package mutating func ordering() -> Ordering {
    let expression: QueryExpression =
      switch values.random.number(0...9) {
      case 0: .attribute(values.random.pick(Attribute.allCases))
      case 1: self.expression(2)
      default: .field(path())
      }
    return Ordering(expression, descending: values.random.oneIn(2))
  }

  /// Returns a query with a condition, and possibly an order and a page.
  package mutating func query() -> Query {
    var query = Query(values.random.oneIn(2) ? simpleCondition() : condition(3))
    if values.random.oneIn(2) {
      query.orderings = (0..<values.random.number(1...2)).map { _ in ordering() }
    }
    if values.random.oneIn(4) { query.limit = values.random.number(0...6) }
    if values.random.oneIn(5) { query.offset = values.random.number(0...6) }
    return query
  }

  /// Returns an aggregate query over the given query, grouped by at most two fields.
  package mutating func aggregates(_ query: Query) -> AggregateQuery {
    let groups = (0..<values.random.pick([0, 0, 1, 1, 2])).map { _ in path() }
    let aggregates = (0..<values.random.number(1...3)).map { _ -> Aggregate in
      let path = path()
      return values.random.pick([
        .count, .countOf(path), .min(path), .max(path), .average(path), .sum(path),
      ])
    }
    return AggregateQuery(query, groups: groups, aggregates: aggregates)
  }
}
