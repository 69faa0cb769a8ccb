// SPDX-License-Identifier: MIT

import CLibPQ

/// The result rows of a statement, in the server's binary format.
///
/// Confined to the caller that ran the statement.
final class PostgresResult {
  private let result: OpaquePointer

  init(_ result: OpaquePointer) { self.result = result }
  deinit { PQclear(result) }

  var count: Int { Int(PQntuples(result)) }
  var columns: Int { Int(PQnfields(result)) }

  /// The number of inserted, updated or deleted rows.
  var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// The command tag, such as `COMMIT`.
  var command: String { String(cString: PQcmdStatus(result)) }

  func name(_ column: Int) -> String { String(cString: PQfname(result, Int32(column))) }
  func typeID(_ column: Int) -> UInt32 { PQftype(result, Int32(column)) }

  @inline(__always)
  func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) != 0
  }

  /// The bytes of a value, valid for the lifetime of the result.
  @inline(__always)
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)),
      count: Int(PQgetlength(result, Int32(row), Int32(column))))
  }

  /// A `bigint` value.
  @inline(__always)
  func int(_ row: Int, _ column: Int) -> Int64 {
    let bytes = bytes(row, column)
    guard bytes.count == 8 else { return 0 }
    return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
  }

  @inline(__always)
  func optionalInt(_ row: Int, _ column: Int) -> Int64? {
    isNull(row, column) ? nil : int(row, column)
  }

  func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == 1 }

  func text(_ row: Int, _ column: Int) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }

  func optionalText(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : text(row, column)
  }
}
