// SPDX-License-Identifier: MIT

extension DocumentObject {
  /// Sets the value at a path, or removes it if `value` is `nil`.
  ///
  /// Missing objects along the path are created. Array elements are accessed by index; the index after
  /// the last element appends one.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a value along the path is neither an object nor an
  ///   array, or an index is out of range; ``StoreError/Code/invalidPath``. The object is unchanged.
  public mutating func set(_ value: DocumentValue?, at path: FieldPath) throws(StoreError) {
    try path.validate()
    var whole = DocumentValue.object(self)
    try whole.set(value, path.steps[...], path)
    if case .object(let changed) = whole { self = changed }
  }

  /// Returns an object with only the specified fields, at their paths. Within arrays, the fields of
  /// each element are kept.
  public func selecting(_ paths: [FieldPath]) -> DocumentObject {
    DocumentValue.object(self).selecting(paths.map { $0.components[...] })?.object ?? [:]
  }
}

extension Document {
  /// Returns a document with only these fields, which cannot replace the stored one.
  package func selecting(_ fields: [FieldPath]) throws -> Document {
    var header = header
    header.isPartial = true
    var writer = JSONWriter(capacity: 256)
    writer.object(try object().selecting(fields))
    return Document(header, copying: writer.bytes)
  }
}

extension DocumentValue {
  fileprivate mutating func set(
    _ value: DocumentValue?, _ steps: ArraySlice<FieldPath.Step>, _ path: FieldPath
  ) throws(StoreError) {
    guard let step = steps.first else {
      self = value ?? .null
      return
    }
    let name = step.name
    let isLast = steps.count == 1
    switch self {
    case .object(var object):
      if isLast {
        object[name] = value
      } else {
        guard object[name] != nil || value != nil else { return }
        var inner = object[name] ?? .object([:])
        if inner.isNull { inner = .object([:]) }
        try inner.set(value, steps.dropFirst(), path)
        object[name] = inner
      }
      self = .object(object)
    case .array(var array):
      guard let index = step.index, index <= array.count else {
        throw Self.blocked(path, name)
      }
      if isLast, value == nil {
        if index < array.count { array.remove(at: index) }
      } else {
        if index == array.count { array.append(.object([:])) }
        try array[index].set(value, steps.dropFirst(), path)
      }
      self = .array(array)
    default: throw Self.blocked(path, name)
    }
  }

  private static func blocked(_ path: FieldPath, _ name: String) -> StoreError {
    StoreError(
      .typeMismatch, "A value on the path to a field is not an object",
      [.field: path.description, .position: name])
  }

  fileprivate func selecting(_ paths: [ArraySlice<String>]) -> DocumentValue? {
    switch self {
    case .object(let object):
      var kept = DocumentObject()
      for (name, value) in object {
        let below = paths.filter { $0.first?.hasSameBytes(as: name) == true }.map { $0.dropFirst() }
        if below.contains(where: \.isEmpty) {
          kept.append(name, value)
        } else if !below.isEmpty, let inner = value.selecting(below) {
          kept.append(name, inner)
        }
      }
      return kept.isEmpty ? nil : .object(kept)
    case .array(let array):
      let kept = array.compactMap { $0.selecting(paths) }
      return kept.isEmpty ? nil : .array(kept)
    default: return nil
    }
  }
}
