// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoQuery

/// What SQLite hands to a function, read without copies.
struct FunctionArguments {
  let context: OpaquePointer?
  let values: UnsafeMutablePointer<OpaquePointer?>

  init?(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let values else { return nil }
    self.context = context
    self.values = values
  }

  @inline(__always)
  func text(_ index: Int) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_text(values[index])
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[index])))
  }

  /// A text as the database keeps it, without the copy that SQLite makes to put a NUL behind it.
  @inline(__always)
  func storedText(_ index: Int, isUTF8: Bool) -> UnsafeRawBufferPointer {
    guard isUTF8 else { return text(index) }
    let start = sqlite3_value_blob(values[index])
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[index])))
  }

  @inline(__always)
  func object<Object: AnyObject>(_ index: Int, _ kind: StaticString) -> Object? {
    let name = UnsafeRawPointer(kind.utf8Start).assumingMemoryBound(to: CChar.self)
    guard let pointer = sqlite3_value_pointer(values[index], name) else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The attributes, if they are passed from this index on: id, key, type, version, added.
  func attribute(_ attribute: Attribute, from first: Int) -> DocumentValue {
    switch attribute {
    case .rowID: return .int(sqlite3_value_int64(values[first]))
    case .key: return key(first + 1)
    case .type: return isNull(first + 2) ? .null : .string(string(first + 2))
    case .version: return int(first + 3).map { .int($0) } ?? .null
    case .leafPath: return .null
    case .added: return int(first + 4).map { .date(Moment.date($0)) } ?? .null
    }
  }

  /// Nil for anything but an integer, which only other programs write.
  private func int(_ index: Int) -> Int64? {
    guard sqlite3_value_type(values[index]) == SQLITE_INTEGER else { return nil }
    return sqlite3_value_int64(values[index])
  }

  private func isNull(_ index: Int) -> Bool { sqlite3_value_type(values[index]) == SQLITE_NULL }
  private func string(_ index: Int) -> String { String(decoding: text(index), as: UTF8.self) }

  private func key(_ index: Int) -> DocumentValue {
    switch sqlite3_value_type(values[index]) {
    case SQLITE_NULL: return .null
    case SQLITE_BLOB where sqlite3_value_bytes(values[index]) == 16:
      guard let start = sqlite3_value_blob(values[index]) else { return .null }
      let high = start.loadUnaligned(as: UInt64.self).bigEndian
      let low = start.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
      return .string(DocumentKey.uuid(high, low).description)
    case SQLITE_BLOB:
      let count = Int(sqlite3_value_bytes(values[index]))
      let bytes = UnsafeRawBufferPointer(start: sqlite3_value_blob(values[index]), count: count)
      return .string(SQLiteStatement.hexadecimal(bytes))
    default: return .string(string(index))
    }
  }

  /// Whether it is a path as `json_extract` knows them, or NULL.
  func isPath(_ index: Int) -> Bool {
    isNull(index) || text(index).first == UInt8(ascii: "$")
  }

  func fail(_ error: StoreError, _ program: Program) {
    program.failure = error
    sqlite3_result_error(context, error.message, -1)
  }

  func misuse() {
    sqlite3_result_error(context, "this function is for queries that NanoStore makes", -1)
  }
}

/// Moments as the `added` column keeps them.
enum Moment {
  static func date(_ microseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1e6)
  }
}
