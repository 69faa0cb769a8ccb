// SPDX-License-Identifier: MIT

extension EncodingCore {
  /// Writes a name, and says what to go back to if its value fails; nil if the object is closed.
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
    if trace & ~object.pointee.seen == 0 { lookForTwin(name, Int(frame.index)) }
    object.pointee.seen |= trace
    return mark
  }

  /// Begins an element, and says what to go back to if it fails; nil if the array is closed.
  @inline(__always)
  mutating func element(in frame: Reference) -> Mark? {
    guard reopen(frame) else { return nil }
    let mark = Mark(frame: frame, written: writer.count)
    let array = frames + Int(frame.index)
    if array.pointee.count > 0 { writer.byte(ASCII.comma) }
    array.pointee.count &+= 1
    return mark
  }

  /// Takes back the field or element that was begun at a mark.
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

  /// Other encoders let the last of two fields of one name count, in the place of the first.
  @inline(never)
  private mutating func lookForTwin(_ name: String, _ index: Int) {
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
    let isLarge = frame.count > 32  // arbitrary: from here on a set is worth its memory
    var names: Set<ExactName> = []
    while let other = try? reader.rawName() {
      if other.matches(mine) { needsTree = true }
      if isLarge, let text = try? other.text { names.insert(ExactName(text)) }
      guard (try? reader.skipValue()) != nil, reader.peekConsume(ASCII.comma) else { break }
    }
    guard isLarge else { return }
    names.insert(ExactName(name))
    largeNames[index] = names
    frames[index].seen = .max  // from here on every name is looked for
  }

  /// The names and indices that lead to a value; empty if it is closed.
  func codingPath(of frame: Reference) -> [any CodingKey] {
    let index = Int(frame.index)
    guard index < depth, frames[index].id == frame.id else { return [] }
    var path: [any CodingKey] = []
    for outer in 0..<index { path += key(outer) }
    return path
  }

  /// The path of the last field or element of a container.
  func codingPath(ofLastIn frame: Reference) -> [any CodingKey] {
    codingPath(of: frame) + key(Int(frame.index))
  }

  /// The name or index that leads into an open value, if it has any.
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
