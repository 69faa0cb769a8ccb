// SPDX-License-Identifier: MIT

import NanoDocument

/// A binary property list (`bplist00`), read without Foundation, which does not return the
/// references of keyed archives on Linux.
///
/// Nothing in the file is trusted: every count and offset is checked before it is used.
struct BinaryPropertyList: PropertyList {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let table: Int
  let root: Int

  static func isLikely(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: "bplist".utf8)
  }

  private static let trailer = 32

  init(_ bytes: [UInt8]) throws(PropertyListError) {
    guard bytes.starts(with: "bplist0".utf8), bytes.count >= 8 + 1 + 1 + Self.trailer else {
      throw PropertyListError("the property list is incomplete")
    }
    self.bytes = bytes
    let start = bytes.count - Self.trailer
    offsetSize = Int(bytes[start + 6])
    referenceSize = Int(bytes[start + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      let count = Self.number(bytes, start + 8, 8), let root = Self.number(bytes, start + 16, 8),
      let table = Self.number(bytes, start + 24, 8), count > 0, root < count, table >= 9,
      table <= start, count <= (start - table) / offsetSize
    else { throw PropertyListError("the table of the property list is damaged") }
    self.count = count
    self.root = root
    self.table = table
  }

  func object(_ number: Int) throws(PropertyListError) -> PropertyListObject {
    guard number >= 0, number < count,
      let offset = Self.number(bytes, table + number * offsetSize, offsetSize), offset >= 8,
      offset < table
    else { throw Self.damaged }
    let marker = bytes[offset]
    let low = Int(marker & 15)
    switch marker >> 4 {
    case 0x0: return try simple(low, at: offset)
    case 0x1: return try integer(1 << low, at: offset + 1)
    case 0x2: return try real(1 << low, at: offset + 1)
    case 0x3:
      guard low == 3 else { throw Self.damaged }
      return .date(Double(bitPattern: UInt64(bitPattern: try signed(8, at: offset + 1))))
    case 0x4: return .data(Array(bytes[try content(low, offset, 1)]))
    case 0x5:
      let range = try content(low, offset, 1)
      guard bytes[range].allSatisfy({ $0 < 0x80 }) else { throw Self.damaged }
      return .string(String(decoding: bytes[range], as: UTF8.self))
    case 0x6: return try utf16(try content(low, offset, 2))
    case 0x7:
      let range = try content(low, offset, 1)
      guard let text = String(validating: bytes[range], as: UTF8.self) else { throw Self.damaged }
      return .string(text)
    case 0x8:
      guard low < 8, let uid = field(offset + 1, low + 1) else { throw Self.damaged }
      return .uid(uid)
    case 0xA, 0xB, 0xC: return .array(try references(try content(low, offset, referenceSize)))
    case 0xD:
      let all = try references(try content(low, offset, 2 * referenceSize))
      return .dictionary(Array(all[..<(all.count / 2)]), Array(all[(all.count / 2)...]))
    default: throw Self.damaged
    }
  }

  private static let damaged = PropertyListError("an object of the property list is damaged")
}

extension BinaryPropertyList {
  private func simple(_ low: Int, at offset: Int) throws(PropertyListError) -> PropertyListObject {
    switch low {
    case 0: return .null
    case 8: return .bool(false)
    case 9: return .bool(true)
    default: throw Self.damaged
    }
  }

  /// Integers of 1, 2 and 4 bytes have no sign; those of 8 bytes do; 16 bytes hold what 64 bits
  /// with sign do not.
  private func integer(_ size: Int, at offset: Int) throws(PropertyListError) -> PropertyListObject
  {
    switch size {
    case 1, 2, 4:
      guard let value = field(offset, size) else { throw Self.damaged }
      return .int(Int64(value))
    case 8: return .int(try signed(8, at: offset))
    case 16:
      let high = try signed(8, at: offset)
      let low = UInt64(bitPattern: try signed(8, at: offset + 8))
      let value = Int128(high) << 64 | Int128(low)
      return Int64(exactly: value).map { .int($0) } ?? .largeInteger(String(value))
    default: throw Self.damaged
    }
  }

  private func real(_ size: Int, at offset: Int) throws(PropertyListError) -> PropertyListObject {
    switch size {
    case 4:
      guard let bits = field(offset, 4) else { throw Self.damaged }
      return .real(Double(Float(bitPattern: UInt32(bits))))
    case 8: return .real(Double(bitPattern: UInt64(bitPattern: try signed(8, at: offset))))
    default: throw Self.damaged
    }
  }

  private func utf16(_ range: Range<Int>) throws(PropertyListError) -> PropertyListObject {
    let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw PropertyListError("a text of the property list has an unpaired surrogate")
    }
    return .string(text)
  }

  /// Returns the range of an object's content: `low` elements, or as many as the integer says that
  /// follows the marker.
  private func content(
    _ low: Int, _ offset: Int, _ elementSize: Int
  ) throws(PropertyListError) -> Range<Int> {
    var length = low
    var start = offset + 1
    if low == 15 {
      guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else {
        throw Self.damaged
      }
      let size = 1 << Int(bytes[start] & 15)
      guard let value = field(start + 1, size) else { throw Self.damaged }
      length = value
      start += 1 + size
    }
    guard start <= table, length <= (table - start) / elementSize else { throw Self.damaged }
    return start..<start + length * elementSize
  }

  private func references(_ range: Range<Int>) throws(PropertyListError) -> [Int] {
    var numbers: [Int] = []
    numbers.reserveCapacity(range.count / referenceSize)
    for offset in stride(from: range.lowerBound, to: range.upperBound, by: referenceSize) {
      guard let number = Self.number(bytes, offset, referenceSize), number < count else {
        throw Self.damaged
      }
      numbers.append(number)
    }
    return numbers
  }

  /// Returns a number within the objects.
  private func field(_ offset: Int, _ size: Int) -> Int? {
    size <= table - offset ? Self.number(bytes, offset, size) : nil
  }

  private func signed(_ size: Int, at offset: Int) throws(PropertyListError) -> Int64 {
    guard size <= table - offset else { throw Self.damaged }
    var word: UInt64 = 0
    for index in offset..<offset + size { word = word << 8 | UInt64(bytes[index]) }
    return Int64(bitPattern: word)
  }

  /// Returns a big-endian number; `nil` if it exceeds the bytes or `Int`.
  private static func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int? {
    guard offset >= 0, size <= bytes.count - offset else { return nil }
    var word: UInt64 = 0
    for index in offset..<offset + size { word = word << 8 | UInt64(bytes[index]) }
    return Int(exactly: word)
  }
}
