// SPDX-License-Identifier: MIT

/// Decompresses data in the gzip format (RFC 1952) that arrives in pieces.
///
/// Everything that the caller has not received is bounded: a window of 32 KB, and what a piece expands to.
package struct GzipInflater {
  /// The error of data that is damaged, is not in the format, or expands beyond the limit.
  package enum Failure: Error, Sendable, Hashable {
    case damaged
    case tooLong
  }

  private enum State {
    case header
    case block
    case stored(remaining: Int)
    case codes(HuffmanTable, HuffmanTable)
    case trailer
  }

  private var state = State.header
  private var isLastBlock = false
  private var hasMember = false
  private var input = BitReader()
  private var window = OutputWindow()
  private let limit: Int
  private var total = 0

  /// - Parameter limit: The maximum length of the decompressed data.
  package init(limit: Int = .max) { self.limit = limit }

  /// Returns what the next piece expands to.
  package mutating func append(_ piece: [UInt8]) throws(Failure) -> [UInt8] {
    input.append(piece)
    var output: [UInt8] = []
    while try step() {
      if window.pending > OutputWindow.size { output += try take() }
    }
    output += try take()
    return output
  }

  /// Checks that the data is complete.
  package func finish() throws(Failure) {
    guard case .header = state, hasMember, input.isEmpty else { throw .damaged }
  }

  private mutating func take() throws(Failure) -> [UInt8] {
    total += window.pending
    guard total <= limit else { throw .tooLong }
    return window.take()
  }

  /// Decodes a step, and returns false if that takes more input; nothing was consumed then.
  private mutating func step() throws(Failure) -> Bool {
    switch state {
    case .header: return try header()
    case .block: return try block()
    case .stored(let remaining): return stored(remaining)
    case .codes(let literals, let distances): return try symbols(literals, distances)
    case .trailer: return try trailer()
    }
  }

  private mutating func header() throws(Failure) -> Bool {
    guard !input.isEmpty else { return false }
    let start = input
    guard let length = try Self.headerLength(input.rest) else { return false }
    input = start
    input.skipBytes(length)
    window.beginMember()
    hasMember = true
    state = .block
    return true
  }

  /// Returns the length of the header; nil if it is not complete.
  private static func headerLength(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int? {
    let base = bytes.startIndex
    for (index, expected) in [UInt8(0x1F), 0x8B, 8].enumerated() where bytes.count > index {
      guard bytes[base + index] == expected else { throw .damaged }
    }
    guard bytes.count >= 10 else { return nil }
    let flags = bytes[base + 3]
    var at = base + 10
    if flags & 4 != 0 {
      guard bytes.endIndex >= at + 2 else { return nil }
      at += 2 + Int(bytes[at]) + Int(bytes[at + 1]) << 8
      guard bytes.endIndex >= at else { return nil }
    }
    // The name and the comment end with a NUL. The limit is arbitrary.
    for flag in [UInt8(8), 16] where flags & flag != 0 {
      guard bytes.endIndex >= at, let end = bytes[at...].firstIndex(of: 0) else {
        guard bytes.count < 1 << 16 else { throw .damaged }
        return nil
      }
      at = end + 1
    }
    if flags & 2 != 0 { at += 2 }
    return bytes.endIndex >= at ? at - base : nil
  }

  private mutating func block() throws(Failure) -> Bool {
    let start = input
    guard let last = input.bits(1), let kind = input.bits(2) else {
      input = start
      return false
    }
    switch kind {
    case 0:
      input.alignToByte()
      guard let length = input.bits(16), let complement = input.bits(16) else {
        input = start
        return false
      }
      guard length == ~complement & 0xFFFF else { throw .damaged }
      state = .stored(remaining: length)
    case 1:
      state = .codes(HuffmanTable.fixedLiterals, HuffmanTable.fixedDistances)
    case 2:
      guard let (literals, distances) = try dynamicTables() else {
        input = start
        return false
      }
      state = .codes(literals, distances)
    default: throw .damaged
    }
    isLastBlock = last == 1
    return true
  }

  /// The order in which the lengths of the codes of lengths are transmitted.
  private static let lengthOrder = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
  ]

  private mutating func dynamicTables() throws(Failure) -> (HuffmanTable, HuffmanTable)? {
    guard let literalCount = input.bits(5).map({ $0 + 257 }),
      let distanceCount = input.bits(5).map({ $0 + 1 }),
      let lengthCount = input.bits(4).map({ $0 + 4 })
    else { return nil }
    guard literalCount <= 286, distanceCount <= 30 else { throw .damaged }
    var codeLengths = [UInt8](repeating: 0, count: 19)
    for index in 0..<lengthCount {
      guard let length = input.bits(3) else { return nil }
      codeLengths[Self.lengthOrder[index]] = UInt8(length)
    }
    guard let lengthTable = HuffmanTable(codeLengths) else { throw .damaged }
    var lengths: [UInt8] = []
    while lengths.count < literalCount + distanceCount {
      guard let symbol = try input.symbol(lengthTable) else { return nil }
      switch symbol {
      case 0...15: lengths.append(UInt8(symbol))
      case 16:
        guard let last = lengths.last else { throw .damaged }
        guard let extra = input.bits(2) else { return nil }
        lengths += repeatElement(last, count: 3 + extra)
      case 17:
        guard let extra = input.bits(3) else { return nil }
        lengths += repeatElement(0, count: 3 + extra)
      default:
        guard let extra = input.bits(7) else { return nil }
        lengths += repeatElement(0, count: 11 + extra)
      }
    }
    guard lengths.count == literalCount + distanceCount, lengths[256] != 0,
      let literals = HuffmanTable(Array(lengths[..<literalCount])),
      let distances = HuffmanTable(Array(lengths[literalCount...]))
    else { throw .damaged }
    return (literals, distances)
  }

  private mutating func stored(_ remaining: Int) -> Bool {
    guard remaining > 0 else {
      state = isLastBlock ? .trailer : .block
      return true
    }
    let bytes = input.bytes(atMost: remaining)
    guard !bytes.isEmpty else { return false }
    window.append(bytes)
    state = .stored(remaining: remaining - bytes.count)
    return true
  }

  /// Decodes symbols until the block ends, the input ends or there is enough output.
  private mutating func symbols(
    _ literals: HuffmanTable, _ distances: HuffmanTable
  ) throws(Failure) -> Bool {
    var isFirst = true
    while window.pending <= OutputWindow.size {
      let start = input.mark
      guard let symbol = try input.symbol(literals) else {
        input.mark = start
        return !isFirst
      }
      if symbol < 256 {
        window.append(UInt8(symbol))
      } else if symbol == 256 {
        state = isLastBlock ? .trailer : .block
        return true
      } else {
        guard symbol < 286 else { throw .damaged }
        let code = symbol - 257
        guard let extra = input.bits(Self.lengthExtra[code]),
          let distanceCode = try input.symbol(distances),
          let more = try distanceExtra(distanceCode)
        else {
          input.mark = start
          return !isFirst
        }
        let distance = Self.distanceBase[distanceCode] + more
        guard window.copy(Self.lengthBase[code] + extra, from: distance) else { throw .damaged }
      }
      isFirst = false
    }
    return true
  }

  private mutating func distanceExtra(_ code: Int) throws(Failure) -> Int? {
    guard code < 30 else { throw .damaged }
    return input.bits(code < 2 ? 0 : code / 2 - 1)
  }

  private static let lengthExtra = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let lengthBase = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
  ]
  private static let distanceBase = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
    3073, 4097, 6145, 8193, 12289, 16385, 24577,
  ]

  private mutating func trailer() throws(Failure) -> Bool {
    let start = input
    input.alignToByte()
    guard let low = input.bits(16), let high = input.bits(16), let length = input.bits(16),
      let highLength = input.bits(16)
    else {
      input = start
      return false
    }
    window.check()
    guard UInt32(high << 16 | low) == window.checksum,
      UInt32(highLength << 16 | length) == UInt32(truncatingIfNeeded: window.memberLength)
    else { throw .damaged }
    state = .header
    return true
  }
}

/// Bits of a stream of bytes, the least significant first.
private struct BitReader {
  struct Mark {
    var position: Int
    var buffer: UInt64
    var count: Int
  }
  private var bytes: [UInt8] = []
  var mark = Mark(position: 0, buffer: 0, count: 0)

  mutating func append(_ piece: [UInt8]) {
    bytes.removeSubrange(..<mark.position)
    mark.position = 0
    bytes += piece
  }

  var isEmpty: Bool { mark.position == bytes.count && mark.count == 0 }

  /// The bytes that follow. Called at the beginning of a byte.
  var rest: ArraySlice<UInt8> {
    mutating get {
      // Bytes in the bit buffer are returned to the input.
      mark.position -= mark.count / 8
      mark.count = 0
      mark.buffer = 0
      return bytes[mark.position...]
    }
  }

  mutating func skipBytes(_ count: Int) {
    _ = rest
    mark.position += count
  }

  mutating func bytes(atMost count: Int) -> ArraySlice<UInt8> {
    let found = rest.prefix(count)
    mark.position += found.count
    return found
  }

  mutating func alignToByte() {
    let skipped = mark.count % 8
    mark.buffer >>= UInt64(skipped)
    mark.count -= skipped
  }

  @inline(__always)
  private mutating func fill() {
    while mark.count <= 56, mark.position < bytes.count {
      mark.buffer |= UInt64(bytes[mark.position]) << UInt64(mark.count)
      mark.position += 1
      mark.count += 8
    }
  }

  @inline(__always)
  mutating func bits(_ count: Int) -> Int? {
    if mark.count < count { fill() }
    guard mark.count >= count else { return nil }
    let value = mark.buffer & (1 << UInt64(count) - 1)
    mark.buffer >>= UInt64(count)
    mark.count -= count
    return Int(value)
  }

  @inline(__always)
  mutating func symbol(_ table: HuffmanTable) throws(GzipInflater.Failure) -> Int? {
    if mark.count < 15 { fill() }
    let entry = table.entries[Int(mark.buffer & HuffmanTable.mask)]
    let length = Int(entry & 15)
    guard length > 0 else {
      if mark.count < 15 { return nil }
      throw .damaged
    }
    guard length <= mark.count else { return nil }
    mark.buffer >>= UInt64(length)
    mark.count -= length
    return Int(entry >> 4)
  }
}

/// The codes of an alphabet, looked up by the next 15 bits.
private struct HuffmanTable {
  static let width = 15
  static let mask: UInt64 = 1 << 15 - 1
  /// The symbol and, in the low four bits, the length of its code.
  private(set) var entries: [UInt16]

  /// Nil if the lengths are not those of a prefix code.
  init?(_ lengths: [UInt8]) {
    var counts = [Int](repeating: 0, count: Self.width + 1)
    for length in lengths where length > 0 { counts[Int(length)] += 1 }
    var code = 0
    var next = [Int](repeating: 0, count: Self.width + 2)
    for length in 1...Self.width {
      next[length] = code
      code += counts[length]
      guard code <= 1 << length else { return nil }
      code <<= 1
    }
    entries = [UInt16](repeating: 0, count: 1 << Self.width)
    for (symbol, length) in lengths.enumerated() where length > 0 {
      let length = Int(length)
      var reversed = 0
      for bit in 0..<length where next[length] >> bit & 1 == 1 {
        reversed |= 1 << (length - 1 - bit)
      }
      next[length] += 1
      let entry = UInt16(symbol << 4 | length)
      for index in stride(from: reversed, to: 1 << Self.width, by: 1 << length) {
        entries[index] = entry
      }
    }
  }

  static let fixedLiterals = HuffmanTable(
    [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112)
      + [UInt8](repeating: 7, count: 24) + [UInt8](repeating: 8, count: 8))!
  static let fixedDistances = HuffmanTable([UInt8](repeating: 5, count: 30))!
}

/// The output, of which the last 32 KB can be referred to.
private struct OutputWindow {
  static let size = 1 << 15
  private var bytes: [UInt8] = []
  private var taken = 0
  private var memberStart = 0
  private(set) var checksum: UInt32 = 0
  private var checked = 0
  private(set) var memberLength = 0

  var pending: Int { bytes.count - taken }

  mutating func beginMember() {
    check()
    checksum = 0
    memberLength = 0
    memberStart = bytes.count
  }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(_ slice: ArraySlice<UInt8>) { bytes += slice }

  /// Repeats bytes of the output; false if there are not so many.
  mutating func copy(_ length: Int, from distance: Int) -> Bool {
    guard distance <= bytes.count - memberStart else { return false }
    let start = bytes.count - distance
    for index in start..<start + length { bytes.append(bytes[index]) }
    return true
  }

  mutating func take() -> [UInt8] {
    check()
    let new = Array(bytes[taken...])
    let surplus = max(0, bytes.count - Self.size)
    if surplus > 0 {
      bytes.removeFirst(surplus)
      memberStart = max(0, memberStart - surplus)
    }
    taken = bytes.count
    checked = bytes.count
    return new
  }

  /// Brings the checksum up to date; `GzipInflater` compares it after the last symbol of a member.
  mutating func check() {
    var sum = ~checksum
    for byte in bytes[checked...] {
      sum = Self.table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8
    }
    checksum = ~sum
    memberLength += bytes.count - checked
    checked = bytes.count
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }
}
