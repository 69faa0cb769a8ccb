// SPDX-License-Identifier: MIT

/// The text written so far, and the values in it that are still open.
///
/// Codable lets a type keep a container and write into it after others were opened. Text cannot be
/// inserted into what is written, so a container that comes back after it was closed only sets
/// ``needsTree``, and the value is encoded again, as a tree.
struct EncodingCore: ~Copyable {
  /// One open value, from the inside of which the next text comes.
  struct Frame {
    enum Kind: UInt8 { case empty, scalar, object, array }

    var id: UInt32 = 0
    var kind = Kind.empty
    /// How many objects and arrays are open around the value.
    var nesting = 0
    var count = 0
    /// Where an object's first name is.
    var opening = 0
    /// Where an object's last name is.
    var name = 0
    /// Which names came, roughly; see ``FieldCollector/trace(_:)``.
    var seen: UInt64 = 0
  }

  /// An open value as a container remembers it. Another may have taken its place since.
  struct Reference {
    var index: Int32
    var id: UInt32
    static let closed = Reference(index: 0, id: 0)
  }

  /// The state before a field or an element was begun, to go back to if it cannot be encoded.
  struct Mark {
    var frame: Reference
    var written: Int
  }

  var writer = JSONWriter(capacity: 64)
  var needsTree = false
  /// What a type did that no encoder can make sense of.
  var misuse: (any Error)?

  var frames: UnsafeMutablePointer<Frame>
  private var capacity = 16
  private(set) var depth = 0
  private var lastID: UInt32 = 0
  /// The names of objects so large that searching the text would take long, by frame.
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

  /// How many objects and arrays are open where the writer stands.
  var nesting: Int { depth == 0 ? writer.depth : nestingInside(depth - 1) }

  private func nestingInside(_ index: Int) -> Int {
    let kind = frames[index].kind
    return frames[index].nesting + (kind == .object || kind == .array ? 1 : 0)
  }

  // MARK: Opening and closing

  /// Opens a value where the writer stands.
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

  /// Closes a value and all in it.
  mutating func pop(_ frame: Reference) {
    guard reopen(frame) else { return }
    closeLast()
  }

  /// Makes a value the innermost one that is open; false if it is closed already.
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
    case .empty: writer.literal("{}")  // as other encoders do for a value that wrote nothing
    case .scalar: break
    case .object: writer.byte(ASCII.closeBrace)
    case .array: writer.byte(ASCII.closeBracket)
    }
    if !largeNames.isEmpty { largeNames[depth] = nil }
  }

  /// Opens an object or array inside a value, or goes on with the one that it is already.
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

  /// Opens a container where the writer stands.
  mutating func nested(_ kind: Frame.Kind) -> Reference { container(kind, in: open()) }

  /// Opens a value that some other encoder will write, or nobody.
  mutating func slot() -> Reference { open() }

  /// Begins the only text of a value.
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
  /// What a type's `encode(to:)` must not do.
  static var encodedTwice: StoreError {
    StoreError(
      .invalidArgument, "A type encodes two values into one place",
      [.expected: "one container for each value"])
  }
}
