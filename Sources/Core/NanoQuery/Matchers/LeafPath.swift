// SPDX-License-Identifier: MIT

import NanoDocument

/// The current path of a document walk: the enclosing names and their objects.
struct LeafPath {
  private var names: [JSONReader.Name] = []
  private var objects: [JSONReader] = []
  /// The text of the path, computed on demand.
  private var text: [UInt8] = []
  private var hasText = false

  mutating func removeAll() {
    names.removeAll(keepingCapacity: true)
    objects.removeAll(keepingCapacity: true)
    hasText = false
  }

  /// - Parameter object: The position after the opening brace of the object that contains the name.
  @inline(__always)
  mutating func push(_ name: JSONReader.Name, of object: JSONReader) {
    names.append(name)
    objects.append(object)
    hasText = false
  }

  @inline(__always)
  mutating func pop() {
    names.removeLast()
    objects.removeLast()
    hasText = false
  }

  /// Calls the closure with the path's text, in the format of ``FieldPath/description``.
  mutating func withText<Result>(
    _ work: (UnsafeRawBufferPointer) -> Result
  ) throws(StoreError) -> Result {
    if !hasText { try buildText() }
    return text.withUnsafeBytes(work)
  }

  private mutating func buildText() throws(StoreError) {
    text.removeAll(keepingCapacity: true)
    for (number, name) in names.enumerated() {
      if number > 0 { text.append(UInt8(ascii: ".")) }
      let isPlain =
        !name.hasEscapes
        && !name.bytes.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "$") }
      if isPlain {
        text.append(contentsOf: name.bytes)
      } else {
        text.append(contentsOf: FieldPath(components: [try name.text]).description.utf8)
      }
    }
    hasText = true
  }

  /// Returns whether every name is the first of its kind in its object. If a name occurs twice, which
  /// only other programs write, the first field is used.
  func isFirst() throws(StoreError) -> Bool {
    for (name, object) in zip(names, objects) {
      var reader = object
      while true {
        let other = try reader.rawName()
        if other.bytes.baseAddress == name.bytes.baseAddress { break }
        if try Self.isSame(other, name) { return false }
        try reader.skipValue()
        guard reader.peekConsume(UInt8(ascii: ",")) else { break }
      }
    }
    return true
  }

  /// Names with escapes, or with a `$` that another program did not double, can be equal in different bytes.
  private static func isSame(
    _ a: JSONReader.Name, _ b: JSONReader.Name
  ) throws(StoreError) -> Bool {
    guard a.hasEscapes || b.hasEscapes || a.bytes.first == UInt8(ascii: "$") else {
      return a.matches(b.bytes)
    }
    return try a.text.hasSameBytes(as: b.text)
  }
}
