// SPDX-License-Identifier: MIT

extension EncodingCore {
  /// Writes a field name. Returns the mark to roll back to if the value fails, or `nil` if the object
  /// is closed.
  @inline(__always)
  mutating func name(_ name: String, in frame: Reference) -> Mark? {
    guard reopen(frame) else { return nil }
    let mark = Mark(frame: frame, written: writer.count)
    let object = frames + Int(frame.index)
    if object.pointee.count > 0 { writer.byte(ASCII.comma) }
    object.pointee.name = writer.count
    object.pointee.count &+= 1
    writer.fieldName(name)
    let first = object.pointee.name &+ 1
    let trace = FieldCollector.trace(
      UnsafeRawBufferPointer(start: writer.base + first, count: writer.count &- first &- 2))
    if trace & ~object.pointee.seen == 0 { checkForDuplicate(name, Int(frame.index)) }
    object.pointee.seen |= trace
    return mark
  }

  /// Begins an element. Returns the mark to roll back to if it fails, or `nil` if the array is closed.
  @inline(__always)
  mutating func element(in frame: Reference) -> Mark? {
    guard reopen(frame) else { return nil }
    let mark = Mark(frame: frame, written: writer.count)
    let array = frames + Int(frame.index)
    if array.pointee.count > 0 { writer.byte(ASCII.comma) }
    array.pointee.count &+= 1
    return mark
  }

  /// Removes the field or element that was begun at the mark.
  mutating func rollBack(_ mark: Mark) {
    let index = Int(mark.frame.index)
    guard index < depth, frames[index].id == mark.frame.id else {
      needsTree = true
      return
    }
    while depth > index + 1 { closeLast() }
    writer.truncate(to: mark.written)
    frames[index].count -= 1
    largeNames[index] = nil
  }

  func count(of frame: Reference) -> Int { frames[Int(frame.index)].count }

  /// Detects a duplicate name. Other encoders keep the last of two values, at the position of the
  /// first.
  @inline(never)
  private mutating func checkForDuplicate(_ name: String, _ index: Int) {
    let frame = frames[index]
    if largeNames[index] != nil {
      if largeNames[index]?.insert(ExactName(name)).inserted != true { needsTree = true }
      return
    }
    var reader = JSONReader(
      start: UnsafePointer(writer.base), cursor: UnsafePointer(writer.base + frame.opening),
      end: UnsafePointer(writer.base + frame.name))
    let mine = UnsafeRawBufferPointer(
      start: writer.base + frame.name + 1, count: writer.count - frame.name - 3)
    let isLarge = frame.count > 32  // arbitrary: from this count on, a set is worth its memory
    var names: Set<ExactName> = []
    while let other = try? reader.rawName() {
      if other.matches(mine) { needsTree = true }
      if isLarge, let text = try? other.text { names.insert(ExactName(text)) }
      guard (try? reader.skipValue()) != nil, reader.peekConsume(ASCII.comma) else { break }
    }
    guard isLarge else { return }
    names.insert(ExactName(name))
    largeNames[index] = names
    frames[index].seen = .max  // from here on, every name is checked against the set
  }

  /// Returns the coding path of an open value; empty if it is closed.
  func codingPath(of frame: Reference) -> [any CodingKey] {
    let index = Int(frame.index)
    guard index < depth, frames[index].id == frame.id else { return [] }
    var path: [any CodingKey] = []
    for outer in 0..<index { path += key(outer) }
    return path
  }

  /// Returns the coding path of the last field or element of a container.
  func codingPath(ofLastIn frame: Reference) -> [any CodingKey] {
    codingPath(of: frame) + key(Int(frame.index))
  }

  /// Returns the name or index of the last field or element in an open container; empty for a scalar.
  private func key(_ index: Int) -> [any CodingKey] {
    guard index < depth else { return [] }
    switch frames[index].kind {
    case .array: return [PathKey(intValue: max(frames[index].count - 1, 0))]
    case .object:
      var reader = JSONReader(writer.bytes)
      reader.cursor += frames[index].name
      guard let name = try? reader.rawName().text else { return [] }
      return [PathKey(stringValue: name)]
    default: return []
    }
  }
}
