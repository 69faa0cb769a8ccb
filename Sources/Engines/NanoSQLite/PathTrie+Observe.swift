// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PathTrie {
  /// Marks every path and type of a document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if it is not an object.
  func observe(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    var reader = JSONReader(body)
    guard reader.kind() == .object else {
      throw StoreError(
        .corruptDocument, "A stored document is not an object", [.byteOffset: "0"])
    }
    try object(&reader, Self.root)
  }

  private func object(_ reader: inout JSONReader, _ node: Int32) throws(StoreError) {
    _ = reader.peekConsume(UInt8(ascii: "{"))
    if reader.peekConsume(UInt8(ascii: "}")) { return }
    // The field that followed last time.
    var predicted = nodes[Int(node)].firstChild
    repeat {
      if predicted >= 0, reader.match(quotedName(predicted)) {
        let child = predicted
        try value(&reader, child)
        predicted = nodes[Int(child)].nextSibling
        continue
      }
      let name = try reader.rawName()
      let child: Int32
      if name.hasEscapes {
        // Another program may have written it with other escapes than ours.
        let stored = StoredName(try name.text)
        child = stored.utf8.withUnsafeBytes { findOrMake(node, $0) }
      } else {
        child = findOrMake(node, name.bytes)
      }
      if child >= 0 {
        try value(&reader, child)
        predicted = nodes[Int(child)].nextSibling
      } else {
        try reader.skipValue()
      }
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "}"))
  }

  private func value(_ reader: inout JSONReader, _ node: Int32) throws(StoreError) {
    switch reader.kind() {
    case .string:
      let string = try reader.rawString()
      // SQLite's JSON functions take a text to end at its first NUL.
      let isCut = string.isEscaped && string.text.utf8.contains(0)
      mark(node, Int32((isCut ? [.string, .irregular] : ObservedTypes.string).rawValue))
    case .number:
      let isNegative = reader.next == UInt8(ascii: "-")
      let (isDouble, length) = reader.skipNumber()
      mark(node, Self.numberType(isDouble, digits: length - (isNegative ? 1 : 0)))
    case .bool:
      mark(node, Int32(ObservedTypes.bool.rawValue))
      try reader.skipValue()
    case .null:
      mark(node, Int32(ObservedTypes.null.rawValue))
      try reader.skipValue()
    case .array: try array(&reader, node)
    case .object:
      if reader.isStoredForm { return try storedForm(&reader, node) }
      mark(node, Int32(ObservedTypes.object.rawValue))
      try object(&reader, node)
    case .none:
      throw StoreError(
        .corruptDocument, "A stored document does not decode",
        [.byteOffset: "\(reader.offset)", .expected: "a value"])
    }
  }

  @inline(__always)
  private static func numberType(_ isDouble: Bool, digits: Int) -> Int32 {
    if isDouble { return Int32(ObservedTypes.double.rawValue) }
    // An integer beyond 64 bits can only come from another program; nothing is concluded from it.
    return Int32((digits > 19 ? ObservedTypes.int.union(.irregular) : .int).rawValue)
  }

  private func array(_ reader: inout JSONReader, _ node: Int32) throws(StoreError) {
    mark(node, Int32(ObservedTypes.array.rawValue))
    let element = elementNode(node)
    _ = reader.peekConsume(UInt8(ascii: "["))
    if reader.peekConsume(UInt8(ascii: "]")) { return }
    repeat { try value(&reader, element) } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "]"))
  }

  /// A value that JSON lacks. One whose text does not sort with the others of its type is marked as
  /// irregular.
  private func storedForm(_ reader: inout JSONReader, _ node: Int32) throws(StoreError) {
    if reader.skipStoredDate() { return mark(node, Int32(ObservedTypes.date.rawValue)) }
    let types: ObservedTypes
    switch try reader.value() {
    case .date: types = [.date, .irregular]
    case .data: types = .data
    case .url: types = .url
    case .double: types = [.double, .irregular]
    // Only another program can have written a name with a single `$`.
    case .object: types = [.object, .open]
    default: types = .irregular
    }
    mark(node, Int32(types.rawValue))
  }
}
