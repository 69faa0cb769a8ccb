// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

/// The reference implementation of pipelines: each stage maps all rows to all rows. It shares the evaluator and the
/// aggregates with engines, but not the reading, decoding, sorting, grouping and passing of rows.
struct ReferencePipeline {
  typealias Row = DocumentSubject
  let read: (Query, String) throws -> [Row]

  func rows(_ stages: [Pipeline.Stage], over rows: [Row]) throws -> [Row] {
    try stages.reduce(rows) { try self.rows($1, over: $0) }
  }

  private func rows(_ stage: Pipeline.Stage, over rows: [Row]) throws -> [Row] {
    switch stage {
    case .filter(let condition): return try rows.filter { try Evaluator($0).holds(condition) }
    case .unwind(let unwind): return rows.flatMap { self.unwind($0, unwind) }
    case .extend(let fields):
      return try rows.map { row in
        var row = row
        let object = try compute(fields, row, onto: row.value.object ?? [:])
        row.value = .object(object)
        for field in fields where object[field.name] == nil {
          row.defaults = row.defaults?.removing(name: field.name)
        }
        return row
      }
    case .select(let fields):
      return try rows.map { row in
        var selected = row
        selected.value = .object(try compute(fields, row, onto: [:]))
        selected.defaults = nil
        return selected
      }
    case .group(let grouping): return try group(rows, grouping)
    case .sort(let orderings):
      let keyed = try rows.map { row in
        (row: row, values: try orderings.map { try $0.value(for: row) })
      }
      return keyed.enumerated().sorted { a, b in
        for (index, ordering) in orderings.enumerated() {
          let order = ValueOrder.compare(a.element.values[index], b.element.values[index])
          if order != 0 { return ordering.descending ? order > 0 : order < 0 }
        }
        return a.offset < b.offset
      }.map(\.element.row)
    case .limit(let limit, let offset, let expressions):
      var seen: [(key: [DocumentValue], count: Int)] = []
      return try rows.filter { row in
        let key = try expressions.map { try Evaluator(row: row).singleValue($0) ?? .null }
        let index = seen.firstIndex { Self.areEqual($0.key, key) } ?? seen.endIndex
        if index == seen.endIndex { seen.append((key, 0)) }
        seen[index].count += 1
        return seen[index].count > offset && seen[index].count <= offset + limit
      }
    case .union(let source):
      return rows + (try self.rows(source.stages, over: read(source.query, source.collection)))
    case .facets(let facets):
      let fields = try facets.map { facet in
        (facet.name, DocumentValue.array(try self.rows(facet.stages, over: rows).map(\.value)))
      }
      return [Row(DocumentObject(fields))]
    }
  }

  private func compute(
    _ fields: [Pipeline.NamedExpression], _ row: Row, onto object: DocumentObject
  ) throws -> DocumentObject {
    var object = object
    for field in fields {
      object[field.name] = try Evaluator(row: row).singleValue(field.expression)
    }
    return object
  }

  private static func areEqual(_ a: [DocumentValue], _ b: [DocumentValue]) -> Bool {
    a.elementsEqual(b) { ValueOrder.compare($0, $1) == 0 }
  }
}

// MARK: Unwinding

extension ReferencePipeline {
  private typealias Element = (element: DocumentValue, index: DocumentValue, whole: DocumentValue)

  private func unwind(_ row: Row, _ unwind: Pipeline.Unwind) -> [Row] {
    let steps = unwind.path.steps
    var elements: [Element]
    if PathValues.exists(in: row.value, at: unwind.path) {
      elements = Self.elements(of: row.value, steps[...])
    } else if let defaults = row.defaults, defaults.reaches(unwind.path) {
      elements = Self.elements(of: .object(defaults.object), steps[...]).map {
        ($0.element, $0.index, Self.placing($0.element, in: row.value, steps[...]))
      }
    } else {
      elements = []
    }
    if elements.isEmpty, unwind.keepsEmpty {
      let whole = unwind.name == nil ? Self.withoutEmpty(row.value, steps[...]) : row.value
      elements = [(.null, .null, whole)]
      var row = row
      if unwind.name == nil {
        row.defaults = row.defaults?.removing(unwind.path)
      } else if let name = unwind.name {
        row.defaults = row.defaults?.removing(name: name)
      }
      return elements.map { self.row(row, $0, unwind, hasElement: false) }
    }
    return elements.map { self.row(row, $0, unwind, hasElement: true) }
  }

  private func row(
    _ row: Row, _ found: Element, _ unwind: Pipeline.Unwind, hasElement: Bool
  ) -> Row {
    var object = (unwind.name == nil ? found.whole : row.value).object ?? [:]
    if let name = unwind.name { object[name] = hasElement ? found.element : DocumentValue?.none }
    if let index = unwind.index { object[index] = found.index }
    var row = row
    row.value = .object(object)
    return row
  }

  private static func elements(
    of value: DocumentValue, _ steps: ArraySlice<FieldPath.Step>
  ) -> [Element] {
    guard let step = steps.first else {
      guard let array = value.array else { return value.isNull ? [] : [(value, .null, value)] }
      return array.enumerated().map { ($0.element, .int(Int64($0.offset)), $0.element) }
    }
    if let array = value.array {
      guard let index = step.index else { return array.flatMap { elements(of: $0, steps) } }
      guard array.indices.contains(index) else { return [] }
      return elements(of: array[index], steps.dropFirst()).map { found in
        var whole = array
        whole[index] = found.whole
        return (found.element, found.index, .array(whole))
      }
    }
    guard let object = value.object, let inner = object[step.name] else { return [] }
    return elements(of: inner, steps.dropFirst()).map { found in
      var whole = object
      whole[step.name] = found.whole
      return (found.element, found.index, .object(whole))
    }
  }

  private static func placing(
    _ value: DocumentValue, in outer: DocumentValue?, _ steps: ArraySlice<FieldPath.Step>
  ) -> DocumentValue {
    guard let step = steps.first else { return value }
    var object = outer?.object ?? [:]
    object[step.name] = placing(value, in: object[step.name], steps.dropFirst())
    return .object(object)
  }

  private static func withoutEmpty(
    _ value: DocumentValue, _ steps: ArraySlice<FieldPath.Step>
  ) -> DocumentValue {
    guard let step = steps.first, var object = value.object, let inner = object[step.name] else {
      return value
    }
    let kept: DocumentValue? =
      if inner == .array([]) { .none } else { withoutEmpty(inner, steps.dropFirst()) }
    object[step.name] = kept
    return .object(object)
  }
}

// MARK: Groups

extension ReferencePipeline {
  private typealias Inputs = [[DocumentValue]?]

  private func inputs(_ row: Row, _ grouping: Pipeline.Grouping) throws -> Inputs {
    try grouping.aggregates.map { named in
      let aggregate = named.aggregate
      if let condition = aggregate.condition, try !Evaluator(row).holds(condition) { return nil }
      return try aggregate.operand.map { try Evaluator(row: row).elementValues($0) } ?? []
    }
  }

  private func append(
    _ rows: [Inputs], _ grouping: Pipeline.Grouping, to object: inout DocumentObject
  ) throws {
    for (index, named) in grouping.aggregates.enumerated() {
      object[named.name] = try named.aggregate.result(over: rows.map { $0[index] })
    }
  }

  private func group(_ rows: [Row], _ grouping: Pipeline.Grouping) throws -> [Row] {
    guard case .values(let keys) = grouping.keys else { return try buckets(rows, grouping) }
    var groups: [(key: [DocumentValue], rows: [Inputs])] = keys.isEmpty ? [([], [])] : []
    for row in rows {
      var combinations: [[DocumentValue]] = [[]]
      for key in keys {
        var values = Self.distinct(try Evaluator(row: row).elementValues(key.expression))
        if values.isEmpty { values = [.null] }
        combinations = combinations.flatMap { start in values.map { start + [$0] } }
      }
      let inputs = try inputs(row, grouping)
      for key in combinations {
        let index = groups.firstIndex { Self.areEqual($0.key, key) } ?? groups.endIndex
        if index == groups.endIndex { groups.append((key, [])) }
        groups[index].rows.append(inputs)
      }
    }
    groups.sort { ValueOrder.compare(.array($0.key), .array($1.key)) < 0 }
    return try groups.map { group in
      var object = DocumentObject()
      for (key, value) in zip(keys, group.key) { object[key.name] = value }
      try append(group.rows, grouping, to: &object)
      return Row(object)
    }
  }

  private static func distinct(_ values: [DocumentValue]) -> [DocumentValue] {
    values.enumerated().filter { index, value in
      !values[..<index].contains { ValueOrder.compare($0, value) == 0 }
    }.map(\.element)
  }

  private func buckets(_ rows: [Row], _ grouping: Pipeline.Grouping) throws -> [Row] {
    guard case .buckets(let buckets) = grouping.keys else { return [] }
    var entries: [(value: DocumentValue, inputs: Inputs)] = []
    for row in rows {
      var values = Self.distinct(
        try Evaluator(row: row).elementValues(buckets.value.expression))
      if values.isEmpty { values = [.null] }
      let inputs = try inputs(row, grouping)
      entries += values.map { ($0, inputs) }
    }
    entries = entries.enumerated().sorted { a, b in
      let order = ValueOrder.compare(a.element.value, b.element.value)
      return order == 0 ? a.offset < b.offset : order < 0
    }.map(\.element)
    var others: [Inputs] = []
    var filled: [(number: Int, bounds: DocumentObject, rows: [Inputs])] = []
    if buckets.equalWidths {
      let numbers = entries.compactMap(\.value.double).filter(\.isFinite)
      let isDate = numbers.isEmpty
      let positions = entries.map { entry -> Double? in
        let position =
          isDate ? entry.value.date?.timeIntervalSinceReferenceDate : entry.value.double
        return position.flatMap { $0.isFinite ? $0 : nil }
      }
      let low = positions.compactMap { $0 }.min() ?? 0
      let high = positions.compactMap { $0 }.max() ?? 0
      let count = low == high ? 1 : buckets.count
      func bound(_ number: Int) -> Double {
        if number == 0 { return low }
        if number == count { return high }
        let share = Double(number) / Double(count)
        return low * (1 - share) + high * share
      }
      func value(_ position: Double) -> DocumentValue {
        isDate ? .date(Date(timeIntervalSinceReferenceDate: position)) : .double(position)
      }
      for (entry, position) in zip(entries, positions) {
        guard let position else {
          others.append(entry.inputs)
          continue
        }
        let number = (0..<count).last { $0 == 0 || bound($0) <= position } ?? 0
        if filled.last?.number != number {
          let bounds: DocumentObject = [
            "min": value(bound(number)), "max": value(bound(number + 1)),
          ]
          filled.append((number, bounds, []))
        }
        filled[filled.count - 1].rows.append(entry.inputs)
      }
    } else {
      others = entries.filter(\.value.isNull).map(\.inputs)
      let values = entries.filter { !$0.value.isNull }
      for (position, entry) in values.enumerated() {
        let isRepeated =
          position > 0 && ValueOrder.compare(values[position - 1].value, entry.value) == 0
        let number =
          isRepeated ? filled[filled.count - 1].number : position * buckets.count / values.count
        if filled.last?.number != number {
          if !filled.isEmpty { filled[filled.count - 1].bounds["max"] = entry.value }
          filled.append((number, ["min": entry.value, "max": entry.value], []))
        }
        filled[filled.count - 1].bounds["max"] = entry.value
        filled[filled.count - 1].rows.append(entry.inputs)
      }
      // The upper bound of a bucket is the lower bound of the next one.
      for index in filled.indices.dropLast() {
        filled[index].bounds["max"] = filled[index + 1].bounds["min"]
      }
    }
    let groups =
      (others.isEmpty ? [] : [(DocumentValue.null, others)])
      + filled.map { (DocumentValue.object($0.bounds), $0.rows) }
    return try groups.map { bounds, rows in
      var object = DocumentObject()
      object[buckets.value.name] = bounds
      try append(rows, grouping, to: &object)
      return Row(object)
    }
  }
}
