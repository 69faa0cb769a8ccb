// SPDX-License-Identifier: MIT

/// The bytes being decoded, with hints about the positions of fields.
///
/// All state except the bounds is an optimization; containers may be used in any order.
struct DecodingCore: ~Copyable {
  typealias Position = UnsafePointer<UInt8>

  /// The position of the last field read from an object. Fields that are decoded in stored order are
  /// found without a search.
  struct Hint {
    /// The object, identified by the position after its opening brace. The hint applies to no other
    /// object.
    var object: Position?
    /// The opening quote of the last field's name, and the start of its value.
    var name: Position?
    var value: Position?
    /// The end of that value, if it is known.
    var after: Position?
    /// A part of the object that contains all fields which were passed without being read; nil if none was. If one of
    /// them has the same name as a later field, which only another program can write, it counts, and the later one does
    /// not.
    var skipped: Range<Position>?
    /// A filter of the names of these fields; see ``FieldCollector/trace(_:)``.
    var skippedNames: UInt64 = 0

    /// Whether a field that was passed can have the name.
    @inline(never)
    func mayHaveSkipped(_ name: UnsafeRawBufferPointer) -> Bool {
      FieldCollector.trace(name) & ~skippedNames == 0
    }
  }

  /// One hint per nesting depth; deeper objects share hints. The number is arbitrary.
  static let hintCount = 32

  private(set) var start: Position
  private(set) var end: Position
  let hints: UnsafeMutablePointer<Hint>

  /// The last value read to its end, so that it is not skipped a second time.
  var spanStart: Position?
  var spanEnd: Position?

  init() {
    let reader = JSONReader(UnsafeRawBufferPointer(start: nil, count: 0))
    (start, end) = (reader.start, reader.end)
    hints = .allocate(capacity: Self.hintCount)
    hints.initialize(repeating: Hint(), count: Self.hintCount)
  }

  deinit { hints.deallocate() }

  mutating func begin(_ reader: JSONReader) { (start, end) = (reader.start, reader.end) }

  /// Drops the bytes. A container that outlives the call finds empty input and reads no freed memory.
  mutating func finish() {
    let reader = JSONReader(UnsafeRawBufferPointer(start: nil, count: 0))
    (start, end) = (reader.start, reader.end)
    (spanStart, spanEnd) = (nil, nil)
    hints.update(repeating: Hint(), count: Self.hintCount)
  }

  @inline(__always)
  func hint(_ depth: Int) -> UnsafeMutablePointer<Hint> { hints + (depth & (Self.hintCount - 1)) }

  @inline(__always)
  func reader(at position: Position) -> JSONReader {
    JSONReader(start: start, cursor: position, end: end)
  }

  /// Returns the position after a value, skipping what was already read.
  @inline(__always)
  func endOfValue(_ position: Position, depth: Int) throws(StoreError) -> Position {
    if spanStart == position, let spanEnd { return spanEnd }
    var reader = reader(at: position)
    let hint = hint(depth)
    if hint.pointee.object == position + 1 {
      if let after = hint.pointee.after {
        reader.cursor = after
      } else if let value = hint.pointee.value {
        reader.cursor = value
        try reader.skipValue()
      } else {
        reader.cursor = position + 1
      }
      if reader.next == ASCII.closeBrace { return reader.cursor + 1 }
      try reader.leave(1)
      return reader.cursor
    }
    try reader.skipValue()
    return reader.cursor
  }

  // MARK: Fields

  /// Returns the position of a field's value in the object whose content starts at `object`, or `nil`
  /// if there is no such field.
  @inline(__always)
  func find(_ name: String, in object: Position, depth: Int) throws(StoreError) -> Position? {
    let found = name.utf8.withContiguousStorageIfAvailable { utf8 in
      Result { () throws(StoreError) in try find(utf8, in: object, depth: depth) }
    }
    if let found { return try found.get() }
    return try findEscaped(name, in: object, depth: depth)
  }

  @inline(__always)
  private func find(
    _ name: UnsafeBufferPointer<UInt8>, in object: Position, depth: Int
  ) throws(StoreError) -> Position? {
    if _slowPath(needsEscape(name)) {
      return try findEscaped(String(decoding: name, as: UTF8.self), in: object, depth: depth)
    }
    return try findStored(name, in: object, depth: depth)
  }

  @inline(never)
  private func findEscaped(
    _ name: String, in object: Position, depth: Int
  ) throws(StoreError) -> Position? {
    let stored = StoredName(name)
    return try stored.utf8.withUnsafeBufferPointer { (utf8) throws(StoreError) -> Position? in
      try findStored(utf8, in: object, depth: depth)
    }
  }

  private func needsEscape(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = name.baseAddress, name.count > 0 else { return false }
    if base[0] == ASCII.dollar { return true }
    var at = 0
    while at &+ 8 <= name.count {
      if escapeMask(load64(base + at)) != 0 { return true }
      at &+= 8
    }
    while at < name.count {
      let byte = base[at]
      if byte < 0x20 || byte == ASCII.quote || byte == ASCII.backslash { return true }
      at &+= 1
    }
    return false
  }

  private func findStored(
    _ name: UnsafeBufferPointer<UInt8>, in object: Position, depth: Int
  ) throws(StoreError) -> Position? {
    let hint = hint(depth)
    if hint.pointee.object != object { hint.pointee = Hint(object: object) }
    var next = object
    if let after = hint.pointee.after {
      next = after
    } else if let value = hint.pointee.value, let last = hint.pointee.name {
      // The last field was located but not read (`contains`, for example), so it is the likely next
      // one.
      if isName(name, at: last) { return value }
      next = try endOfValue(value, depth: depth + 1)
      hint.pointee.after = next
    }
    if next < end {
      if _slowPath(next.pointee <= ASCII.space) { next = skippingWhitespace(next) }
      if next.pointee == ASCII.comma {
        next += 1
        if next < end, _slowPath(next.pointee <= ASCII.space) { next = skippingWhitespace(next) }
      }
    }
    if isName(name, at: next) {
      if let skipped = hint.pointee.skipped {
        let bytes = UnsafeRawBufferPointer(name)
        if hint.pointee.mayHaveSkipped(bytes),
          let earlier = try scan(
            bytes, from: skipped.lowerBound, to: min(skipped.upperBound, next), hint)
        {
          return earlier
        }
      }
      hint.pointee.name = next
      hint.pointee.value = next + (name.count + 3)
      hint.pointee.after = nil
      return next + (name.count + 3)
    }
    return try search(name, in: object, from: next, hint)
  }

  /// Skips whitespace, which other programs may write, even before a comma, and most of them after one.
  @inline(never)
  private func skippingWhitespace(_ position: Position) -> Position {
    var reader = reader(at: position)
    reader.skipWhitespace()
    return reader.cursor < end ? reader.cursor : position
  }

  /// Returns whether the unescaped name, followed directly by a colon, is at the position.
  @inline(__always)
  private func isName(_ name: UnsafeBufferPointer<UInt8>, at position: Position) -> Bool {
    let count = name.count
    guard end - position > count + 3, position[0] == ASCII.quote,
      position[count + 1] == ASCII.quote,
      position[count + 2] == ASCII.colon
    else { return false }
    guard let base = name.baseAddress else { return true }
    return equalBytes(position + 1, base, count)
  }

  /// Searches the fields that were skipped, from the predicted position to the end of the object, then from its
  /// start.
  @inline(never)
  private func search(
    _ name: UnsafeBufferPointer<UInt8>, in object: Position, from predicted: Position,
    _ hint: UnsafeMutablePointer<Hint>
  ) throws(StoreError) -> Position? {
    let name = UnsafeRawBufferPointer(name)
    if let skipped = hint.pointee.skipped, hint.pointee.mayHaveSkipped(name),
      let value = try scan(name, from: skipped.lowerBound, to: skipped.upperBound, hint)
    {
      return value
    }
    var passed: UInt64 = 0
    if let value = try scan(name, from: predicted, to: end, hint, &passed) {
      if let found = hint.pointee.name, passed != 0 {
        hint.pointee.skippedNames |= passed
        let skipped = hint.pointee.skipped ?? predicted..<found
        hint.pointee.skipped =
          min(skipped.lowerBound, predicted)..<max(skipped.upperBound, found)
      }
      return value
    }
    return try scan(name, from: object, to: predicted, hint)
  }

  private func scan(
    _ name: UnsafeRawBufferPointer, from first: Position, to stop: Position,
    _ hint: UnsafeMutablePointer<Hint>
  ) throws(StoreError) -> Position? {
    var passed: UInt64 = 0
    return try scan(name, from: first, to: stop, hint, &passed)
  }

  /// Returns the position of the value of the first field with a name between two positions.
  ///
  /// - Parameter passed: Receives a filter of the names of the fields before it.
  @inline(never)
  private func scan(
    _ name: UnsafeRawBufferPointer, from first: Position, to stop: Position,
    _ hint: UnsafeMutablePointer<Hint>, _ passed: inout UInt64
  ) throws(StoreError) -> Position? {
    var reader = reader(at: first)
    reader.skipWhitespace()
    if reader.next == ASCII.closeBrace { return nil }
    while reader.cursor < stop {
      reader.skipWhitespace()
      let position = reader.cursor
      let found = try reader.rawName()
      reader.skipWhitespace()
      let value = reader.cursor
      if found.matches(name) {
        hint.pointee.name = position
        hint.pointee.value = value
        hint.pointee.after = nil
        return value
      }
      // Escapes can spell any name.
      passed |= found.isEscaped ? .max : FieldCollector.trace(found.bytes)
      try reader.skipValue()
      if reader.peekConsume(ASCII.comma) { continue }
      try reader.expect(ASCII.closeBrace)
      return nil
    }
    return nil
  }
}
