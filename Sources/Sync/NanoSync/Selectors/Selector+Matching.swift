// SPDX-License-Identifier: MIT

package import NanoDocument

extension Selector {
  /// Returns whether a document matches.
  ///
  /// - Parameter document: Its fields, with `_id` and others that conditions may name.
  package func matches(_ document: DocumentObject) -> Bool {
    // Only a document that is nested too deeply has no such text.
    guard let plain = try? SyncJSON.plain(document) else { return false }
    return holds(.object(plain))
  }

  /// Returns whether a revision matches. Conditions may name `_id`, `_rev`, `_deleted` and `_attachments`.
  package func matches(_ document: SyncDocument) -> Bool { matches(document.selectable) }

  private func holds(_ value: DocumentValue) -> Bool {
    switch self {
    case .all(let list): return list.allSatisfy { $0.holds(value) }
    case .any(let list): return list.contains { $0.holds(value) }
    case .not(let inner): return !inner.holds(value)
    case .field(let path, let inner): return inner.holdsAtField(value.value(at: path[...]))
    case .exists(let flag): return flag
    case .compare(let comparison, let other):
      return comparison.holds(CollationOrder.compare(value, other))
    case .isIn(let list): return Self.isIn(value, list)
    case .isNotIn(let list): return !Self.isIn(value, list)
    case .containsAll(let list): return Self.containsAll(value, list)
    case .element(let inner): return value.array?.contains { inner.holds($0) } ?? false
    case .allElements(let inner):
      guard let elements = value.array, !elements.isEmpty else { return false }
      return elements.allSatisfy { inner.holds($0) }
    case .anyName(let inner):
      return value.object?.contains { inner.holds(.string($0.name)) } ?? false
    case .type(let type): return value.jsonType == type
    case .size(let size): return value.array.map { Int64($0.count) } == size
    case .remainder(let divisor, let rest):
      // The smallest number has no negative counterpart.
      return value.int64.map { $0.remainderReportingOverflow(dividingBy: divisor).partialValue }
        == rest
    case .pattern(let pattern):
      return value.string.map { pattern.matches($0) } ?? false
    case .prefix(let prefix): return value.string?.utf8.starts(with: prefix.utf8) ?? false
    }
  }

  /// Whether a condition holds for the value of a field, which may be missing: of several conditions, each has to.
  private func holdsAtField(_ value: DocumentValue?) -> Bool {
    switch self {
    case .all(let list): list.allSatisfy { $0.holdsAtField(value) }
    case .any(let list): list.contains { $0.holdsAtField(value) }
    case .field(let path, let inner): inner.holdsAtField(value?.value(at: path[...]))
    case .exists(let flag): (value != nil) == flag
    default: value.map { holds($0) } ?? false
    }
  }

  /// Of an array, whether one of its elements is in the sorted list.
  private static func isIn(_ value: DocumentValue, _ list: [DocumentValue]) -> Bool {
    let candidates = value.array ?? [value]
    return candidates.contains { candidate in
      var (low, high) = (0, list.count)
      while low < high {
        let middle = (low + high) / 2
        let order = CollationOrder.compare(list[middle], candidate)
        if order == 0 { return true }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return false
    }
  }

  private static func containsAll(_ value: DocumentValue, _ list: [DocumentValue]) -> Bool {
    guard let elements = value.array, !list.isEmpty else { return false }
    // A list in the list stands for the whole array.
    if list.count == 1, case .array(let whole) = list[0],
      CollationOrder.compare(.array(whole), value) == 0
    {
      return true
    }
    return list.allSatisfy { wanted in
      elements.contains { CollationOrder.compare($0, wanted) == 0 }
    }
  }
}

extension DocumentValue {
  /// Returns the value at a path; a component is a name, or a position in an array.
  package func value(at path: ArraySlice<String>) -> DocumentValue? {
    guard let name = path.first else { return self }
    switch self {
    case .object(let object): return object[name]?.value(at: path.dropFirst())
    case .array(let elements):
      guard let index = Int(name), elements.indices.contains(index) else { return nil }
      return elements[index].value(at: path.dropFirst())
    default: return nil
    }
  }

  fileprivate var jsonType: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .int, .double: "number"
    case .string: "string"
    case .array: "array"
    case .object, .decimal, .date, .data, .url: "object"
    }
  }
}

extension SyncDocument {
  /// The fields that selectors see.
  package var selectable: DocumentObject {
    var object: DocumentObject = ["_id": .string(id), "_rev": .string("\(revision)")]
    if isDeleted { object["_deleted"] = true }
    object.merge(body)
    if !attachments.isEmpty {
      object["_attachments"] = .object(
        DocumentObject(
          attachments.map {
            (
              $0.name,
              [
                "content_type": .string($0.contentType), "revpos": .int(Int64($0.generation)),
                "digest": .string($0.digest), "length": .int($0.length), "stub": true,
              ]
            )
          }))
    }
    return object
  }
}
