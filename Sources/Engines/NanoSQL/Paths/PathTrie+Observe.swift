// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine

extension PathTrie {
  /// Records every path and type of a document, and collects its scalar values if they are indexed.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if the body is not an object.
  package func observe(
    _ body: UnsafeRawBufferPointer, _ buffer: WildcardIndexBuffer? = nil
  ) throws(StoreError) {
    var reader = JSONReader(body)
    guard reader.kind() == .object else {
      throw StoreError(
        .corruptDocument, "A stored document is not an object", [.byteOffset: "0"])
    }
    depth = 0
    try object(&reader, Self.root, buffer)
  }

  /// Records the paths and types of some fields of a document whose other fields have been recorded.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  package func observe(
    _ fields: [[StoredName]], of body: UnsafeRawBufferPointer
  ) throws(StoreError) {
    for names in fields {
      var reader = JSONReader(body)
      var node = Self.root
      var isFound = true
      depth = 0
      for name in names where isFound {
        isFound = try reader.findField(name)
        guard isFound else { break }
        if node != Self.root { mark(node, Int32(ObservedTypes.object.rawValue)) }
        node = name.utf8.withUnsafeBytes { findOrMake(node, $0) }
        isFound = node >= 0
        depth += 1
      }
      if isFound { try value(&reader, node, nil) }
    }
  }

  private func object(
    _ reader: inout JSONReader, _ node: Int32, _ buffer: WildcardIndexBuffer?
  ) throws(StoreError) {
    try enter(reader)
    defer { depth -= 1 }
    _ = reader.peekConsume(UInt8(ascii: "{"))
    if reader.peekConsume(UInt8(ascii: "}")) { return }
    // The field that followed in the previous document.
    var predicted = nodes[Int(node)].firstChild
    repeat {
      if predicted >= 0, reader.match(quotedName(predicted)) {
        let child = predicted
        try value(&reader, child, buffer)
        predicted = nodes[Int(child)].nextSibling
        continue
      }
      let name = try reader.rawName()
      let child: Int32
      if name.hasEscapes {
        // Another program may have used different escapes.
        let stored = StoredName(try name.text)
        child = stored.utf8.withUnsafeBytes { self.child(node, $0, buffer) }
      } else {
        child = self.child(node, name.bytes, buffer)
      }
      if child >= 0 {
        try value(&reader, child, buffer)
        predicted = nodes[Int(child)].nextSibling
      } else if let buffer {
        try untracked(&reader, node, buffer)
      } else {
        try reader.skipValue()
      }
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "}"))
  }

  /// When a document is removed, its scalar values are looked up where they were indexed: under a name only if
  /// that name was tracked at the time.
  private func child(
    _ node: Int32, _ name: UnsafeRawBufferPointer, _ buffer: WildcardIndexBuffer?
  ) -> Int32 {
    buffer?.isRemoving == true ? find(node, name) : findOrMake(node, name)
  }

  private func value(
    _ reader: inout JSONReader, _ node: Int32, _ buffer: WildcardIndexBuffer?
  ) throws(StoreError) {
    switch reader.kind() {
    case .string:
      let string = try reader.rawString()
      // SQLite's JSON functions end a string at its first NUL.
      let isCut = string.isEscaped && string.text.utf8.contains(0)
      mark(node, Int32((isCut ? [.string, .irregular] : ObservedTypes.string).rawValue))
      if let buffer { text(string, node, buffer) }
    case .number:
      let before = reader
      let isNegative = reader.next == UInt8(ascii: "-")
      let (isDouble, length) = reader.skipNumber()
      let digits = length - (isNegative ? 1 : 0)
      mark(node, Self.numberType(isDouble, digits: digits))
      if let buffer { try number(before, node, isInteger: !isDouble && digits < 19, buffer) }
    case .bool:
      mark(node, Int32(ObservedTypes.bool.rawValue))
      let flag = try reader.bool()
      if let buffer { buffer.add(nodes[Int(node)].attribute, integer: flag ? 1 : 0) }
    case .null:
      mark(node, Int32(ObservedTypes.null.rawValue))
      try reader.skipValue()
      if let buffer { buffer.add(nodes[Int(node)].attribute, value: .null) }
    case .array: try array(&reader, node, buffer)
    case .object:
      if reader.isStoredForm { return try storedForm(&reader, node, buffer) }
      mark(node, Int32(ObservedTypes.object.rawValue))
      try object(&reader, node, buffer)
    case .none:
      throw StoreError(
        .corruptDocument, "A stored document does not decode",
        [.byteOffset: "\(reader.offset)", .expected: "a value"])
    }
  }

  @inline(__always)
  private func text(_ string: JSONReader.RawString, _ node: Int32, _ buffer: WildcardIndexBuffer) {
    let attribute = nodes[Int(node)].attribute
    if string.isEscaped {
      buffer.add(attribute, value: .string(string.text))
    } else {
      buffer.add(attribute, text: string.bytes)
    }
  }

  private func number(
    _ reader: JSONReader, _ node: Int32, isInteger: Bool, _ buffer: WildcardIndexBuffer
  ) throws(StoreError) {
    var reader = reader
    let attribute = nodes[Int(node)].attribute
    if isInteger {
      buffer.add(attribute, integer: try reader.integer())
    } else {
      buffer.add(attribute, value: try reader.value())
    }
  }

  @inline(__always)
  private static func numberType(_ isDouble: Bool, digits: Int) -> Int32 {
    if isDouble { return Int32(ObservedTypes.double.rawValue) }
    // Only another program can write an integer beyond 64 bits; nothing is inferred from it.
    return Int32((digits > 19 ? ObservedTypes.int.union(.irregular) : .int).rawValue)
  }

  private func array(
    _ reader: inout JSONReader, _ node: Int32, _ buffer: WildcardIndexBuffer?
  ) throws(StoreError) {
    mark(node, Int32(ObservedTypes.array.rawValue))
    let element = elementNode(node)
    try enter(reader)
    defer { depth -= 1 }
    _ = reader.peekConsume(UInt8(ascii: "["))
    if reader.peekConsume(UInt8(ascii: "]")) { return }
    repeat { try value(&reader, element, buffer) } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "]"))
  }

  /// Limits the depth: a document of another program could overflow the stack.
  @inline(__always)
  private func enter(_ reader: JSONReader) throws(StoreError) {
    depth += 1
    guard depth <= DocumentValue.maximumDepth else {
      throw StoreError(
        .corruptDocument, "A document is nested too deeply", [.byteOffset: "\(reader.offset)"])
    }
  }

  /// Handles a value type that JSON lacks. A value whose text does not sort with others of its type is marked as
  /// irregular.
  private func storedForm(
    _ reader: inout JSONReader, _ node: Int32, _ buffer: WildcardIndexBuffer?
  ) throws(StoreError) {
    if buffer == nil, reader.skipStoredDate() {
      return mark(node, Int32(ObservedTypes.date.rawValue))
    }
    var ahead = reader
    let isRegular = ahead.skipStoredDate()
    let value = try reader.value()
    let types: ObservedTypes
    switch value {
    case .date: types = isRegular ? .date : [.date, .irregular]
    case .data: types = .data
    case .url: types = .url
    case .double: types = [.double, .irregular]
    case .decimal: types = .decimal
    // Only another program can have written a name that begins with a single `$`.
    case .object: types = [.object, .open]
    default: types = .irregular
    }
    mark(node, Int32(types.rawValue))
    if let buffer { collect(value, node, buffer) }
  }

  /// Handles a value whose name is not tracked: its scalar values are indexed under the parent object.
  private func untracked(
    _ reader: inout JSONReader, _ node: Int32, _ buffer: WildcardIndexBuffer
  ) throws(StoreError) {
    collect(try reader.value(), node, buffer)
  }

  private func collect(_ value: DocumentValue, _ node: Int32, _ buffer: WildcardIndexBuffer) {
    switch value {
    case .array(let array): for element in array { collect(element, node, buffer) }
    case .object(let object): for (_, value) in object { collect(value, node, buffer) }
    default: buffer.add(nodes[Int(node)].attribute, value: value)
    }
  }
}
