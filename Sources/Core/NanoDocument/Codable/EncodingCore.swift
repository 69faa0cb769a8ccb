// SPDX-License-Identifier: MIT

/// The text written so far, and the stack of open values.
///
/// Codable lets a type keep a container and write to it after opening others. Text cannot be inserted
/// into the middle of the buffer, so a write to a closed container only sets ``needsTree``, and the
/// value is encoded again as a tree.
struct EncodingCore: ~Copyable {
  /// One open value on the stack.
  struct Frame {
    enum Kind: UInt8 { case empty, scalar, object, array }

    var id: UInt32 = 0
    var kind = Kind.empty
    /// The number of objects and arrays that enclose the value.
    var nesting = 0
    var count = 0
    /// The offset of an object's first name.
    var opening = 0
    /// The offset of an object's last name.
    var name = 0
    /// A Bloom filter of the names written so far; see ``FieldCollector/trace(_:)``.
    var seen: UInt64 = 0
  }

  /// A container's reference to an open value. The index may have been reused by a different value.
  struct Reference {
    var index: Int32
    var id: UInt32
    static let closed = Reference(index: 0, id: 0)
  }

  /// The state before a field or an element, restored if its value cannot be encoded.
  struct Mark {
    var frame: Reference
    var written: Int
  }

  var writer = JSONWriter(capacity: 64)
  var needsTree = false
  /// An error for calls that no encoder supports.
  var misuse: (any Error)?

  var frames: UnsafeMutablePointer<Frame>
  private var capacity = 16
  private(set) var depth = 0
  private var lastID: UInt32 = 0
  /// The names of large objects, by frame, where searching the text would be too slow.
  var largeNames: [Int: Set<ExactName>] = [:]

  init() { frames = .allocate(capacity: capacity) }

  deinit { frames.deallocate() }

  mutating func reset() {
    depth = 0
    lastID = 0
    needsTree = false
    if misuse != nil { misuse = nil }
    if !largeNames.isEmpty { largeNames = [:] }
  }

  /// The nesting depth at the current position.
  var nesting: Int { depth == 0 ? writer.depth : nestingInside(depth - 1) }

  private func nestingInside(_ index: Int) -> Int {
    let kind = frames[index].kind
    return frames[index].nesting + (kind == .object || kind == .array ? 1 : 0)
  }

  // MARK: Opening and closing

  /// Opens a value at the current position.
  mutating func push() throws(StoreError) -> Reference {
    guard nesting <= DocumentValue.maximumDepth else { throw .nestedTooDeep }
    return open()
  }

  private mutating func open() -> Reference {
    if depth == capacity { growFrames() }
    let nesting = nesting
    lastID &+= 1
    frames[depth] = Frame(id: lastID, nesting: nesting)
    depth += 1
    return Reference(index: Int32(depth - 1), id: lastID)
  }

  private mutating func growFrames() {
    let larger = UnsafeMutablePointer<Frame>.allocate(capacity: capacity * 2)
    larger.update(from: frames, count: depth)
    frames.deallocate()
    frames = larger
    capacity *= 2
  }

  /// Closes a value and everything open inside it.
  mutating func pop(_ frame: Reference) {
    guard reopen(frame) else { return }
    closeLast()
  }

  /// Closes everything inside a value; returns `false` if the value itself is already closed.
  @inline(__always)
  mutating func reopen(_ frame: Reference) -> Bool {
    let index = Int(frame.index)
    guard index < depth, frames[index].id == frame.id else {
      needsTree = true
      return false
    }
    while depth > index + 1 { closeLast() }
    return true
  }

  mutating func closeLast() {
    depth -= 1
    switch frames[depth].kind {
    case .empty: writer.literal("{}")  // as other encoders do for a value that encodes nothing
    case .scalar: break
    case .object: writer.byte(ASCII.closeBrace)
    case .array: writer.byte(ASCII.closeBracket)
    }
    if !largeNames.isEmpty { largeNames[depth] = nil }
  }

  /// Opens an object or array inside a value, or returns the one that is already open.
  mutating func container(_ kind: Frame.Kind, in frame: Reference) -> Reference {
    guard reopen(frame) else { return .closed }
    let index = Int(frame.index)
    if frames[index].kind == kind { return frame }
    guard frames[index].kind == .empty else {
      note(StoreError.encodedTwice)
      return .closed
    }
    if frames[index].nesting >= DocumentValue.maximumDepth { note(StoreError.nestedTooDeep) }
    frames[index].kind = kind
    writer.byte(kind == .object ? ASCII.openBrace : ASCII.openBracket)
    frames[index].opening = writer.count
    return frame
  }

  /// Opens a container at the current position.
  mutating func nested(_ kind: Frame.Kind) -> Reference { container(kind, in: open()) }

  /// Opens a value for a nested encoder, which may never write it.
  mutating func slot() -> Reference { open() }

  /// Begins the single scalar of a value.
  mutating func scalar(in frame: Reference) throws -> Bool {
    guard reopen(frame) else { return false }
    guard frames[Int(frame.index)].kind == .empty else {
      throw StoreError.encodedTwice
    }
    frames[Int(frame.index)].kind = .scalar
    return true
  }

  private mutating func note(_ error: any Error) { if misuse == nil { misuse = error } }
}

extension StoreError {
  /// The error for an `encode(to:)` that writes more than one value.
  static var encodedTwice: StoreError {
    StoreError(
      .invalidArgument, "A type encodes more than one value into a single container",
      [.expected: "one container for each value"])
  }
}
