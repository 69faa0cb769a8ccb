// SPDX-License-Identifier: MIT

/// The values of a row in SQLite's record format (https://www.sqlite.org/fileformat2.html#record_format).
struct StoredRecord {
  enum Value {
    case null
    case int(Int64)
    case double(Double)
    case text([UInt8])
    case blob([UInt8])
  }
  let values: [Value]

  /// Returns `nil` unless all bytes form exactly one record.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let (length, first) = bytes.variableNumber(0), length >= first, length <= bytes.count
    else { return nil }
    var types: [Int64] = []
    var at = first
    while at < Int(length) {
      guard let (type, next) = bytes.variableNumber(at), next <= Int(length), type >= 0 else {
        return nil
      }
      // SQLite's limit for columns. Values without content take no bytes, but memory.
      guard types.count < 32_767 else { return nil }
      types.append(type)
      at = next
    }
    var values: [Value] = []
    values.reserveCapacity(types.count)
    for type in types {
      let size = Self.size(type)
      guard size <= bytes.count - at, let value = Self.value(type, bytes, at, size) else {
        return nil
      }
      values.append(value)
      at += size
    }
    guard at == bytes.count else { return nil }
    self.values = values
  }

  private static func size(_ type: Int64) -> Int {
    switch type {
    case 0, 8...11: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    default: Int((type - 12) / 2)
    }
  }

  private static func value(
    _ type: Int64, _ bytes: UnsafeRawBufferPointer, _ at: Int, _ size: Int
  ) -> Value? {
    switch type {
    // SQLite, which reserves the types 10 and 11, reads them as NULL.
    case 0, 10, 11: return .null
    case 8: return .int(0)
    case 9: return .int(1)
    case 1...7:
      var word = bytes[at] & 0x80 == 0 ? UInt64(0) : UInt64.max
      for index in 0..<size { word = word << 8 | UInt64(bytes[at + index]) }
      return type == 7 ? .double(Double(bitPattern: word)) : .int(Int64(bitPattern: word))
    default:
      let content = Array(bytes[at..<at + size])
      return type & 1 == 0 ? .blob(content) : .text(content)
    }
  }
}

extension StoredRecord.Value {
  var int: Int64? { if case .int(let value) = self { value } else { nil } }
  var isNull: Bool { if case .null = self { true } else { false } }

  /// The bytes of a text or a blob.
  var bytes: [UInt8]? {
    switch self {
    case .text(let bytes), .blob(let bytes): bytes
    default: nil
    }
  }
}

/// The text encoding of a file.
enum StoredTextEncoding: Int {
  case utf8 = 1
  case utf16le = 2
  case utf16be = 3

  /// Returns `nil` for a value that is not text.
  func text(_ value: StoredRecord.Value) -> String? {
    guard case .text(let bytes) = value else { return nil }
    return text(bytes)
  }

  /// Returns `nil` for bytes that are not valid text in this encoding, or that a store with it does not accept as text.
  func text(_ bytes: [UInt8]) -> String? {
    guard self != .utf8 else { return String(validating: bytes, as: UTF8.self) }
    guard bytes.count % 2 == 0 else { return nil }
    let units = units(bytes)
    return units.contains(where: Self.isLost) ? nil : String(validating: units, as: UTF16.self)
  }

  /// Returns the text with U+FFFD for invalid bytes, as a store reads it too.
  func repairedText(_ bytes: [UInt8]) -> String {
    guard self != .utf8 else { return String(decoding: bytes, as: UTF8.self) }
    return String(
      decoding: units(bytes).map { Self.isLost($0) ? 0xFFFD : $0 }, as: UTF16.self)
  }

  private func units(_ bytes: [UInt8]) -> [UInt16] {
    let (high, low) = self == .utf16be ? (0, 1) : (1, 0)
    return stride(from: 0, to: bytes.count & ~1, by: 2).map {
      UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + low])
    }
  }

  /// Whether SQLite replaces the character when it writes it to a UTF-16 database (``TextEncoding``).
  private static func isLost(_ unit: UInt16) -> Bool { unit & ~1 == 0xFFFE }

  /// Infers the encoding from the texts of a record, if possible: in UTF-16, every second byte of plain text is
  /// zero.
  static func inferred(from record: StoredRecord) -> StoredTextEncoding? {
    for value in record.values {
      guard case .text(let bytes) = value, bytes.count >= 2 else { continue }
      if bytes[0] != 0, bytes[1] != 0 { return .utf8 }
      if bytes[0] != 0 { return .utf16le }
      if bytes[1] != 0 { return .utf16be }
    }
    return nil
  }
}
