// SPDX-License-Identifier: MIT

extension DocumentObject {
  /// Sets the value at a path, or removes it if `value` is `nil`.
  ///
  /// Missing objects along the path are created. Array elements are accessed by index; the index after
  /// the last element appends one.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a value along the path is neither an object nor an
  ///   array, or a value is set at an index beyond the end; ``StoreError/Code/invalidPath``. The object is unchanged.
  public mutating func set(_ value: DocumentValue?, at path: FieldPath) throws(StoreError) {
    try change(path) { (_) throws(StoreError) in value }
  }

  /// Replaces the value at a path with what a closure returns for it, as ``set(_:at:)`` does; `nil` is a missing value.
  package mutating func change(
    _ path: FieldPath, _ change: (DocumentValue?) throws(StoreError) -> DocumentValue?
  ) throws(StoreError) {
    try path.validate()
    // No document that can be stored has a longer one.
    guard path.components.count <= DocumentValue.maximumDepth else {
      throw StoreError.nestedTooDeep.adding(.field, path.description)
    }
    var whole = DocumentValue.object(self)
    self = [:]
    defer { if case .object(let changed) = whole { self = changed } }
    try whole.change(path.steps[...], path, change)
  }

  /// Returns an object with only the specified fields, at their paths. Within arrays, the fields of
  /// each element are kept, or those of the element whose index the path contains.
  public func selecting(_ paths: [FieldPath]) -> DocumentObject {
    DocumentValue.object(self).selecting(paths.map { RemainingPath(path: $0) })?.object ?? [:]
  }

  /// Returns the value at a path with only the selected fields, or nil if none is there. The path has the positions of
  /// the whole object, while elements of ``selecting(_:)`` move up if elements before them are not selected.
  package func value(at path: FieldPath, selecting fields: [FieldPath]) -> DocumentValue? {
    DocumentValue.object(self)
      .value(at: path.steps[...], selecting: fields.map { RemainingPath(path: $0) })
  }
}

extension Document {
  /// Returns a document with only these fields, which cannot replace the stored one.
  ///
  /// - Throws: The errors of ``object()``, or ``StoreError/Code/valueNotStorable``.
  package func selecting(_ fields: [FieldPath]) throws -> Document {
    var header = header
    header.isPartial = true
    var writer = JSONWriter(capacity: 256)
    writer.object(try object().selecting(fields))
    if let failure = writer.failure { throw failure }
    return Document(header, copying: writer.bytes)
  }
}

extension DocumentValue {
  /// The value is unchanged if an error is thrown.
  fileprivate mutating func change(
    _ steps: ArraySlice<FieldPath.Step>, _ path: FieldPath,
    _ change: (DocumentValue?) throws(StoreError) -> DocumentValue?
  ) throws(StoreError) {
    guard let step = steps.first else {
      self = try change(self) ?? .null
      return
    }
    switch self {
    case .object(var object):
      let old = object[step.name]
      object[step.name] = try Self.changed(old, steps.dropFirst(), path, change)
      self = .object(object)
    case .array(var array):
      guard let index = step.index else { throw Self.blocked(path, step.name) }
      let old: DocumentValue? = index < array.count ? array[index] : .none
      let new: DocumentValue? = try Self.changed(old, steps.dropFirst(), path, change)
      switch (old, new) {
      case (nil, nil): return
      case (nil, let new?):
        guard index == array.count else {
          throw StoreError(
            .typeMismatch, "An index on the path to a field is beyond the end of its array",
            [.field: path.description, .position: step.name, .actual: "\(array.count) elements"])
        }
        array.append(new)
      case (_?, let new?): array[index] = new
      case (_?, nil): array.remove(at: index)
      }
      self = .array(array)
    default: throw Self.blocked(path, step.name)
    }
  }

  /// Returns a value with a changed value inside. An object is created for it if there is none, unless nothing is
  /// stored in it.
  private static func changed(
    _ old: DocumentValue?, _ steps: ArraySlice<FieldPath.Step>, _ path: FieldPath,
    _ change: (DocumentValue?) throws(StoreError) -> DocumentValue?
  ) throws(StoreError) -> DocumentValue? {
    guard !steps.isEmpty else { return try change(old) }
    var inner = old ?? .null
    if inner.isNull { inner = .object([:]) }
    try inner.change(steps, path, change)
    if old == nil || old?.isNull == true, case .object(let object) = inner, object.isEmpty {
      return old
    }
    return inner
  }

  private static func blocked(_ path: FieldPath, _ name: String) -> StoreError {
    StoreError(
      .typeMismatch, "A value on the path to a field is not an object",
      [.field: path.description, .position: name])
  }

  /// - Parameter paths: The selected paths; nil if the value is selected as a whole.
  fileprivate func value(
    at steps: ArraySlice<FieldPath.Step>, selecting paths: [RemainingPath]?
  ) -> DocumentValue? {
    guard let step = steps.first else {
      guard let paths else { return self }
      return selecting(paths)
    }
    let inner: DocumentValue
    var below: [RemainingPath]?
    switch self {
    case .object(let object):
      guard let value = object[step.name] else { return nil }
      inner = value
      below = paths?.filter { $0.name.hasSameBytes(as: step.name) }.map(\.next)
    case .array(let array):
      guard let index = step.index, array.indices.contains(index) else { return nil }
      inner = array[index]
      below = paths.map { paths in
        paths.filter { $0.index == nil } + paths.filter { $0.index == index }.map(\.next)
      }
    default: return nil
    }
    if below?.contains(where: \.isEmpty) == true { below = nil }
    return inner.value(at: steps.dropFirst(), selecting: below)
  }

  fileprivate func selecting(_ paths: [RemainingPath]) -> DocumentValue? {
    switch self {
    case .object(let object):
      var kept = DocumentObject()
      for (name, value) in object {
        let below = paths.filter { $0.name.hasSameBytes(as: name) }.map(\.next)
        if below.contains(where: \.isEmpty) {
          kept.append(name, value)
        } else if !below.isEmpty, let inner = value.selecting(below) {
          kept.append(name, inner)
        }
      }
      return kept.isEmpty ? nil : .object(kept)
    case .array(let array):
      let kept = Self.selecting(paths, in: array)
      return kept.isEmpty ? nil : .array(kept)
    default: return nil
    }
  }

  private static func selecting(
    _ paths: [RemainingPath], in array: [DocumentValue]
  ) -> [DocumentValue] {
    let indexed = paths.filter { $0.index != nil }
    guard !indexed.isEmpty else { return array.compactMap { $0.selecting(paths) } }
    let others = paths.filter { $0.index == nil }
    return array.enumerated().compactMap { position, element -> DocumentValue? in
      let below = indexed.filter { $0.index == position }.map(\.next)
      if below.contains(where: \.isEmpty) { return element }
      let remaining = others + below
      return remaining.isEmpty ? nil : element.selecting(remaining)
    }
  }
}

/// A selected path from one of its components on.
private struct RemainingPath {
  let path: FieldPath
  var position = 0

  var isEmpty: Bool { position == path.components.count }
  /// - Precondition: The path is not empty.
  var name: String { path.components[position] }
  /// The array index that the component denotes, if any.
  var index: Int? { path.index(at: position) }
  var next: RemainingPath { RemainingPath(path: path, position: position + 1) }
}
