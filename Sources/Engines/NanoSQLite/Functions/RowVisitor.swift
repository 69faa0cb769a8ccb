// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Receives the rows of a statement from an aggregate function.
///
/// The function runs in SQLite's loop over the rows and gets the values of a row in an array. Returning from
/// `sqlite3_step` for each row, and a call with a lock for each column, take as long as finding the row does.
final class RowVisitor: Program {
  static let kind: StaticString = "nano_rows"
  /// `nil` once the statement has ended.
  fileprivate var visit: ((RowValues) throws -> Bool)?
  /// The error that the caller's closure has thrown.
  fileprivate var error: (any Error)?
  fileprivate var isStopped = false

  /// - Parameter visit: Returns `false` to stop.
  fileprivate init(_ visit: @escaping (RowValues) throws -> Bool) { self.visit = visit }

  /// Returns whether SQLite should continue.
  @inline(__always)
  fileprivate func add(_ values: UnsafeMutablePointer<OpaquePointer?>) -> Bool {
    do {
      if try visit?(RowValues(values: values + 1)) == true { return true }
      isStopped = true
    } catch {
      self.error = error
    }
    return false
  }

  /// The first arguments of the function in a statement: columns follow.
  static let call = SQLFragment("SELECT nano_rows(", []) + .parameter(.null)

  static let function: QueryFunctions.Scalar = { context, _, values in
    guard let arguments = FunctionArguments(context, values),
      arguments.use(
        0, RowVisitor.kind,
        { (visitor: RowVisitor) in
          // An error is the only way in which a function can end a statement.
          if !visitor.add(arguments.values) { sqlite3_result_error(context, "stopped", -1) }
        })
    else { return FunctionArguments(context, values)?.misuse() ?? () }
  }
}

extension SQLiteStatement {
  /// Runs a statement that begins with ``RowVisitor/call``, and passes its rows to a closure until that returns
  /// `false`.
  func eachRow(_ visit: (RowValues) throws -> Bool) throws {
    try withoutActuallyEscaping(visit) { visit in
      let visitor = RowVisitor(visit)
      bind(object: visitor, kind: RowVisitor.kind, at: 1)
      defer { visitor.visit = nil }
      do {
        _ = try step()
      } catch {
        if let error = visitor.error { throw error }
        if !visitor.isStopped { throw error }
      }
    }
  }
}

/// The values of a row, valid until the visitor returns. Only for databases that store text as UTF-8.
struct RowValues {
  fileprivate let values: UnsafeMutablePointer<OpaquePointer?>

  @inline(__always)
  func int(_ column: Int) -> Int64 { sqlite3_value_int64(values[column]) }

  /// See ``SQLiteStatement/optionalNumber(_:)``.
  @inline(__always)
  func optionalNumber(_ column: Int) -> Int64? {
    let value = int(column)
    return value != 0 || sqlite3_value_type(values[column]) != SQLITE_NULL ? value : nil
  }

  @inline(__always)
  func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_blob(values[column])
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[column])))
  }

  /// See ``SQLiteStatement/borrowedKey(_:)``.
  @inline(__always)
  func withKey<Result>(_ column: Int, _ use: (BorrowedKey) throws -> Result) rethrows -> Result {
    switch sqlite3_value_type(values[column]) {
    case SQLITE_BLOB:
      let blob = bytes(column)
      guard blob.count == 16 else {
        var text = SQLiteStatement.hexadecimal(blob)
        return try text.withUTF8 { try use(.text(UnsafeRawBufferPointer($0))) }
      }
      return try use(
        .uuid(
          blob.loadUnaligned(as: UInt64.self).bigEndian,
          blob.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian))
    case SQLITE_NULL: return try use(.none)
    default:
      // A number that another program wrote is converted.
      let start = sqlite3_value_text(values[column])
      let text = UnsafeRawBufferPointer(
        start: start, count: Int(sqlite3_value_bytes(values[column])))
      if text.count == 36, let (high, low) = DocumentKey.uuid(text) {
        return try use(.uuid(high, low))
      }
      return try use(.text(text))
    }
  }
}
