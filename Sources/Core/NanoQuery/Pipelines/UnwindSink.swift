// SPDX-License-Identifier: MIT

import NanoDocument

/// Replaces each row by one row for each element of an array.
final class UnwindSink: RowSink {
  private let unwind: Pipeline.Unwind
  private let steps: [FieldPath.Step]
  private let context: PipelineContext
  private let next: RowSink

  init(_ unwind: Pipeline.Unwind, _ context: PipelineContext, _ next: RowSink) {
    self.unwind = unwind
    self.context = context
    self.next = next
    steps = unwind.path.steps
  }

  /// An element, its position, and the value of the first field with the element instead of the array.
  private typealias Found = (element: DocumentValue, index: Int?, outer: DocumentValue)

  override func add(_ row: PipelineRow) throws -> Bool {
    let first = steps[0].name
    var isEmpty = true
    var goesOn = true
    if let root = row.defaultRoot(of: unwind.path) {
      goesOn = try eachElement(.object(root), steps[...]) { found in
        isEmpty = false
        var found = found
        found.outer = Self.placing(found.element, in: row.object[first], steps.dropFirst())
        return try next.add(self.row(row, found, first))
      }
    } else if let root = row.object[first] {
      goesOn = try eachElement(root, steps.dropFirst()) { found in
        isEmpty = false
        return try next.add(self.row(row, found, first))
      }
    }
    guard isEmpty, unwind.keepsEmpty else { return goesOn }
    return try next.add(empty(row))
  }

  /// Returns a value with another one at a path that it does not have.
  private static func placing(
    _ value: DocumentValue, in outer: DocumentValue?, _ steps: ArraySlice<FieldPath.Step>
  ) -> DocumentValue {
    guard let step = steps.first else { return value }
    var object = outer?.object ?? [:]
    object[step.name] = placing(value, in: object[step.name], steps.dropFirst())
    return .object(object)
  }

  private func row(_ row: PipelineRow, _ found: Found, _ first: String) -> PipelineRow {
    var row = row
    if let name = unwind.name {
      row.object[name] = found.element
    } else {
      row.object[first] = found.outer
    }
    if let index = unwind.index {
      row.object[index] = found.index.map { .int(Int64($0)) } ?? .null
    }
    return row
  }

  /// Returns the row for a row without elements: without the empty array and its default, or another field of the element's
  /// name, but with a null.
  private func empty(_ row: PipelineRow) -> PipelineRow {
    var row = row
    if let name = unwind.name {
      row.object[name] = nil
      row.removeDefaults(of: [name])
    } else {
      Self.removeEmpty(&row.object, steps[...])
      row.removeDefault(at: unwind.path)
    }
    if let index = unwind.index { row.object[index] = .null }
    return row
  }

  private static func removeEmpty(
    _ object: inout DocumentObject, _ steps: ArraySlice<FieldPath.Step>
  ) {
    guard let step = steps.first, let value = object[step.name] else { return }
    switch value {
    case .array([]): object[step.name] = nil
    case .object(var inner):
      removeEmpty(&inner, steps.dropFirst())
      object[step.name] = .object(inner)
    default: return
    }
  }

  /// Passes each element at a path to the closure. Arrays on the way are replaced by their elements, too.
  private func eachElement(
    _ value: DocumentValue, _ steps: ArraySlice<FieldPath.Step>, _ visit: (Found) throws -> Bool
  ) throws -> Bool {
    guard let step = steps.first else { return try eachElement(ofEnd: value, visit) }
    switch value {
    case .object(let object):
      guard let inner = object[step.name] else { return true }
      return try eachElement(inner, steps.dropFirst()) { found in
        var outer = object
        outer[step.name] = found.outer
        return try visit((found.element, found.index, .object(outer)))
      }
    case .array(let array):
      if let index = step.index {
        guard array.indices.contains(index) else { return true }
        return try eachElement(array[index], steps.dropFirst()) { found in
          var outer = array
          outer[index] = found.outer
          return try visit((found.element, found.index, .array(outer)))
        }
      }
      for element in array where try !eachElement(element, steps, visit) { return false }
      return true
    default: return true
    }
  }

  /// A value that is not an array is its only element.
  private func eachElement(
    ofEnd value: DocumentValue, _ visit: (Found) throws -> Bool
  ) throws -> Bool {
    switch value {
    case .null: return true
    case .array(let array):
      for (index, element) in array.enumerated() {
        try context.check()
        guard try visit((element, index, element)) else { return false }
      }
      return true
    default: return try visit((value, nil, value))
    }
  }
  override func finish() throws { try next.finish() }
}
