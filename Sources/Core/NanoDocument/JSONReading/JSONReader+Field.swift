// SPDX-License-Identifier: MIT

extension JSONReader {
  /// Moves to the value of a field of the object that stands here, without reading the rest of it.
  ///
  /// Of two fields with one name the first is found. If there is none, or the value here is not an
  /// object, the cursor stays.
  ///
  /// - Parameter name: The bytes of a ``StoredName``.
  /// - Throws: ``StoreError/Code/corruptDocument``.
  @inlinable
  package mutating func findField(_ name: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    var ahead = self
    guard ahead.peekConsume(ASCII.openBrace), !ahead.peekConsume(ASCII.closeBrace) else {
      return false
    }
    while true {
      let found = try ahead.rawName()
      if found.matches(name) {
        ahead.skipWhitespace()
        self = ahead
        return true
      }
      try ahead.skipValue()
      if ahead.peekConsume(ASCII.comma) { continue }
      try ahead.expect(ASCII.closeBrace)
      return false
    }
  }

  /// As ``findField(_:)-(UnsafeRawBufferPointer)``.
  @inlinable
  package mutating func findField(_ name: StoredName) throws(StoreError) -> Bool {
    var found = self
    let isThere = try name.utf8.withUnsafeBufferPointer { (utf8) throws(StoreError) -> Bool in
      try found.findField(UnsafeRawBufferPointer(utf8))
    }
    self = found
    return isThere
  }

  /// Skips one value of any kind. Of an object or array only the brackets are counted.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if the bytes end before the value does.
  @inlinable
  public mutating func skipValue() throws(StoreError) {
    skipWhitespace()
    guard cursor < end else { throw corrupt("a value") }
    switch cursor.pointee {
    case ASCII.quote:
      cursor += 1
      _ = try finishString()
    case ASCII.openBrace, ASCII.openBracket:
      cursor += 1
      try leave(1)
    default:
      let first = cursor
      while cursor < end, !endsScalar(cursor.pointee) { cursor += 1 }
      if cursor == first { throw corrupt("a value") }
    }
  }

  /// Skips to behind the bracket that closes so many open ones.
  @usableFromInline
  mutating func leave(_ open: Int) throws(StoreError) {
    var open = open
    while cursor < end {
      let byte = cursor.pointee
      cursor += 1
      switch byte {
      case ASCII.quote: _ = try finishString()
      case ASCII.openBrace, ASCII.openBracket: open += 1
      case ASCII.closeBrace, ASCII.closeBracket:
        open -= 1
        if open == 0 { return }
      default: break
      }
    }
    throw corrupt("the end of an object or array")
  }
}
