// SPDX-License-Identifier: MIT

package import NanoDocument

/// The values at a path.
///
/// A component looks up a field of an object. Arrays along the path are traversed, including nested
/// arrays, unless the component is an unquoted number, which denotes one element. An array at the end
/// yields itself, followed by its elements.
///
/// ```swift
/// PathValues.values(in: ["a": [["b": 1], ["b": [2, 3]]]], at: "a.b")   // 1, [2, 3], 2, 3
/// ```
package enum PathValues {
  /// Returns all values at the path; an array at the end is followed by its elements.
  package static func values(in value: DocumentValue, at path: FieldPath) -> [DocumentValue] {
    var found: [DocumentValue] = []
    reach(value, path.steps[...]) { spread($0, &found) }
    return found
  }

  /// Returns the values at the path, without traversing an array at the end.
  package static func ends(in value: DocumentValue, at path: FieldPath) -> [DocumentValue] {
    var found: [DocumentValue] = []
    reach(value, path.steps[...]) { found.append($0) }
    return found
  }

  /// Returns whether the path has a value, including null.
  package static func exists(in value: DocumentValue, at path: FieldPath) -> Bool {
    !ends(in: value, at: path).isEmpty
  }

  /// Returns whether the path leads through an array or ends at one, so that it may have any number of values.
  package static func meetsArray(in value: DocumentValue, at path: FieldPath) -> Bool {
    var value = value
    for step in path.steps {
      switch value {
      case .object(let object):
        guard let next = object[step.name] else { return false }
        value = next
      case .array(let array):
        guard let index = step.index else { return true }
        guard array.indices.contains(index) else { return false }
        value = array[index]
      default: return false
      }
    }
    guard case .array = value else { return false }
    return true
  }

  private static func reach(
    _ value: DocumentValue, _ steps: ArraySlice<FieldPath.Step>, _ found: (DocumentValue) -> Void
  ) {
    guard let step = steps.first else { return found(value) }
    switch value {
    case .object(let object):
      guard let value = object[step.name] else { return }
      reach(value, steps.dropFirst(), found)
    case .array(let array):
      if let index = step.index {
        if array.indices.contains(index) { reach(array[index], steps.dropFirst(), found) }
      } else {
        for element in array { reach(element, steps, found) }
      }
    default: return
    }
  }

  private static func spread(_ value: DocumentValue, _ found: inout [DocumentValue]) {
    found.append(value)
    guard case .array(let array) = value else { return }
    for element in array { spread(element, &found) }
  }
}

/// A document in memory, for the reference evaluator.
package struct DocumentSubject: Subject {
  package var value: DocumentValue
  package var key: DocumentValue
  package var rowID: Int64
  package var type: DocumentValue
  package var version: DocumentValue
  package var added: DocumentValue
  /// The values of fields that the document does not have.
  package var defaults: FieldDefaults?

  package init(
    _ object: DocumentObject, key: DocumentValue = .null, rowID: Int64 = 0,
    type: DocumentValue = .null, version: DocumentValue = .null, added: DocumentValue = .null,
    defaults: FieldDefaults? = nil
  ) {
    value = .object(object)
    self.key = key
    self.rowID = rowID
    self.type = type
    self.version = version
    self.added = added
    self.defaults = defaults
  }

  package func values(at path: FieldPath) -> [DocumentValue] {
    let found = PathValues.values(in: value, at: path)
    return found.isEmpty ? defaults?.values(at: path) ?? [] : found
  }
  /// Returns the values at the path, without traversing an array at the end.
  func ends(at path: FieldPath) -> [DocumentValue] {
    let found = PathValues.ends(in: value, at: path)
    return found.isEmpty ? defaults?.ends(at: path) ?? [] : found
  }
  package func exists(at path: FieldPath) -> Bool { !ends(at: path).isEmpty }
  /// Returns whether the path leads through an array or ends at one, in the document or in the defaults that apply.
  package func meetsArray(at path: FieldPath) -> Bool {
    if let defaults, defaults.reaches(path), !PathValues.exists(in: value, at: path) {
      return PathValues.meetsArray(in: .object(defaults.object), at: path)
    }
    return PathValues.meetsArray(in: value, at: path)
  }
  package func attribute(_ attribute: Attribute) -> DocumentValue {
    switch attribute {
    case .key: key
    case .rowID: .int(rowID)
    case .type: type
    case .version: version
    case .added: added
    case .leafPath: .null
    }
  }
  package func leaves() -> [Leaf] { Leaves.all(in: value) }
  package func texts(at path: FieldPath) -> [String] {
    PathValues.values(in: value, at: path).compactMap(\.string)
  }
}
