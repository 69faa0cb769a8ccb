// SPDX-License-Identifier: MIT

import GRDBSQLite

/// A prepared statement, which keeps its connection open.
final class RawStatement {
  private let handle: OpaquePointer
  private let connection: RawConnection

  init(_ handle: OpaquePointer, of connection: RawConnection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  // Binding copies nothing. The caller must keep the bytes valid until the statement is reset.

  @inline(__always)
  func bind(text bytes: UnsafeRawBufferPointer, at index: Int32) {
    let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    sqlite3_bind_text(handle, index, text, Int32(bytes.count), nil)
  }

  @inline(__always)
  func bind(blob bytes: UnsafeRawBufferPointer, at index: Int32) {
    sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
  }

  @inline(__always)
  func bind(_ integer: Int, at index: Int32) {
    sqlite3_bind_int64(handle, index, Int64(integer))
  }

  @inline(__always)
  func bind(_ double: Double, at index: Int32) { sqlite3_bind_double(handle, index, double) }

  /// Binds the text to the first parameter for the duration of the closure.
  @inline(__always)
  func withText<Result>(_ text: String, _ work: () throws -> Result) rethrows -> Result {
    var text = text
    return try text.withUTF8 { utf8 in
      bind(text: UnsafeRawBufferPointer(utf8), at: 1)
      return try work()
    }
  }

  /// Steps to the next row. Returns false if there is none.
  @inline(__always)
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw connection.failure("step")
    }
  }

  @inline(__always)
  func reset() { sqlite3_reset(handle) }

  @inline(__always)
  func run() throws {
    _ = try step()
    reset()
  }

  // Column values are valid until the next step.

  @inline(__always)
  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  @inline(__always)
  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  @inline(__always)
  func text(_ column: Int32) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_column_text(handle, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }

  @inline(__always)
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
