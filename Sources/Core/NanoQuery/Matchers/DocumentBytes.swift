// SPDX-License-Identifier: MIT

import NanoDocument

/// The top-level field names that a matcher looks up.
struct FieldNames {
  private(set) var names: [StoredName] = []

  /// Returns the number of a name, equal for all its occurrences.
  mutating func number(_ name: String) -> Int {
    let stored = StoredName(name)
    if let existing = names.firstIndex(of: stored) { return existing }
    names.append(stored)
    return names.count - 1
  }
}

/// A path compiled for walking document bytes.
struct BytePath {
  /// The number of the first name in the matcher's table.
  let first: Int
  let rest: [Step]

  struct Step {
    let name: StoredName
    /// The array index that the name denotes, if any.
    let index: Int?
  }

  init(_ path: FieldPath, _ names: inout FieldNames) {
    first = names.number(path.components[0])
    rest = path.steps.dropFirst().map { Step(name: StoredName($0.name), index: $0.index) }
  }
}

/// The bytes of one stored document during evaluation.
///
/// Fields are found in a single pass: each lookup resumes where the last one stopped and records all
/// requested fields on the way, so that several conditions on one document read it once.
struct DocumentBytes: ~Copyable {
  private let names: [StoredName]
  /// The offset of each name's value, or ``unknown``.
  private let offsets: UnsafeMutablePointer<Int>
  private(set) var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  /// The position after the last field scanned, or `nil` before the first.
  private var ahead: JSONReader?
  private var isComplete = false

  private static let unknown = -1

  init(_ names: [StoredName]) {
    self.names = names
    offsets = .allocate(capacity: max(1, names.count))
    offsets.initialize(repeating: Self.unknown, count: max(1, names.count))
  }

  deinit { offsets.deallocate() }

  /// Starts a new document.
  @inline(__always)
  mutating func reset(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    ahead = nil
    isComplete = false
    for index in 0..<names.count { offsets[index] = Self.unknown }
  }

  /// Decodes the whole document.
  func value() throws(StoreError) -> DocumentValue {
    var reader = JSONReader(bytes)
    return try reader.value()
  }

  /// Returns a reader at the value of a top-level field, or `nil` if there is none.
  mutating func field(_ number: Int) throws(StoreError) -> JSONReader? {
    if offsets[number] != Self.unknown {
      var reader = JSONReader(bytes)
      reader.skip(offsets[number])
      return reader
    }
    if isComplete { return nil }
    if names.count == 1, ahead == nil { return try onlyField() }
    return try search(number)
  }

  /// With a single name, no other offsets need to be recorded.
  private mutating func onlyField() throws(StoreError) -> JSONReader? {
    var reader = JSONReader(bytes)
    guard reader.kind() == .object else { throw Self.notAnObject }
    guard try reader.findField(names[0]) else {
      isComplete = true
      return nil
    }
    offsets[0] = reader.offset
    return reader
  }

  private mutating func search(_ number: Int) throws(StoreError) -> JSONReader? {
    var reader = ahead ?? JSONReader(bytes)
    if ahead == nil {
      guard reader.kind() == .object else { throw Self.notAnObject }
      _ = reader.peekConsume(0x7B)
      if reader.peekConsume(0x7D) { isComplete = true }
    }
    var found: JSONReader?
    while !isComplete, found == nil {
      let match = nameNumber(try reader.rawName())
      // If a name occurs twice, the first field is used.
      if match >= 0, offsets[match] == Self.unknown { offsets[match] = reader.offset }
      if match == number { found = reader }
      try reader.skipValue()
      if !reader.peekConsume(0x2C) {
        try reader.expect(0x7D)
        isComplete = true
      }
    }
    ahead = reader
    return found
  }

  private func nameNumber(_ name: JSONReader.Name) -> Int {
    for number in 0..<names.count
    where names[number].utf8.withUnsafeBytes({ name.matches($0) }) { return number }
    return -1
  }

  private static var notAnObject: StoreError {
    StoreError(.corruptDocument, "A stored document is not an object", [.byteOffset: "0"])
  }
}

extension DocumentBytes {
  /// Passes each value at the end of a path to the closure until it returns `true`. An array at the end
  /// is not traversed.
  mutating func ends(
    _ path: borrowing BytePath, _ body: (JSONReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard let value = try field(path.first) else { return false }
    return try Self.walk(value, path.rest[...], 1) { (end, _) throws(StoreError) in try body(end) }
  }

  /// Passes each value at a path to the closure until it returns `true`. An array at the end is passed
  /// first, then its elements.
  mutating func values(
    _ path: borrowing BytePath, _ body: (JSONReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard let value = try field(path.first) else { return false }
    if path.rest.isEmpty { return try Self.spread(value, 1, body) }
    return try Self.walk(value, path.rest[...], 1) { (end, depth) throws(StoreError) in
      try Self.spread(end, depth, body)
    }
  }

  /// - Parameter depth: The number of objects and arrays that enclose the value.
  private static func walk(
    _ value: JSONReader, _ steps: ArraySlice<BytePath.Step>, _ depth: Int,
    _ body: (_ end: JSONReader, _ depth: Int) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard let step = steps.first else { return try body(value, depth) }
    var value = value
    switch value.kind() {
    case .object:
      // Stored forms, such as dates, are not traversed as objects.
      if value.isStoredForm {
        var copy = value
        guard case .object = try copy.value() else { return false }
      }
      guard try value.findField(step.name) else { return false }
      return try walk(value, steps.dropFirst(), depth + 1, body)
    case .array:
      try checkDepth(of: value, depth)
      if let index = step.index {
        guard let element = try Self.element(value, index) else { return false }
        return try walk(element, steps.dropFirst(), depth + 1, body)
      }
      return try eachElement(value) { (element) throws(StoreError) in
        try walk(element, steps, depth + 1, body)
      }
    default: return false
    }
  }

  private static func spread(
    _ value: JSONReader, _ depth: Int, _ body: (JSONReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var value = value
    let kind = value.kind()
    if try body(value) { return true }
    guard kind == .array else { return false }
    try checkDepth(of: value, depth)
    return try eachElement(value) { (element) throws(StoreError) in
      try spread(element, depth + 1, body)
    }
  }

  /// Limits the recursion over nested arrays, which may be the row of another program.
  private static func checkDepth(
    of array: JSONReader, _ depth: Int
  ) throws(StoreError) {
    guard depth >= DocumentValue.maximumDepth else { return }
    throw JSONReader.tooDeep(at: array.offset)
  }

  private static func eachElement(
    _ array: JSONReader, _ body: (JSONReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var reader = array
    guard reader.peekConsume(0x5B), !reader.peekConsume(0x5D) else { return false }
    repeat {
      reader.skipWhitespace()
      if try body(reader) { return true }
      try reader.skipValue()
    } while reader.peekConsume(0x2C)
    try reader.expect(0x5D)
    return false
  }

  private static func element(_ array: JSONReader, _ index: Int) throws(StoreError) -> JSONReader? {
    var left = index
    var element: JSONReader?
    _ = try eachElement(array) { (reader) throws(StoreError) in
      if left == 0 { element = reader }
      left -= 1
      return left < 0
    }
    return element
  }
}
