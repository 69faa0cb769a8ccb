// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoQuery

/// The SQL functions used by generated queries. They exist only on the store's connections and never appear in a
/// schema.
enum QueryFunctions {
  static func register(on connection: OpaquePointer) throws(StoreError) {
    for count: Int32 in [2, 7] {
      try scalar("nano_match", count, connection, match)
      try scalar("nano_sort", count, connection, sort)
    }
    try aggregate("nano_aggregate", 2, connection, step: addAggregate)
    try aggregate("nano_distinct", 2, connection, step: addDistinct)
    try aggregate("nano_rows", -1, connection, step: RowVisitor.function)
    try KeyFunctions.register(on: connection)
    try scalar("regexp", 2, connection, regexp, flags: SQLITE_DETERMINISTIC)
  }

  typealias Scalar =
    @convention(c) (
      OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void
  typealias Final = @convention(c) (OpaquePointer?) -> Void

  private static func scalar(
    _ name: String, _ count: Int32, _ connection: OpaquePointer, _ function: Scalar,
    flags: Int32 = 0
  ) throws(StoreError) {
    try check(
      sqlite3_create_function_v2(
        connection, name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY | flags, nil, function, nil, nil,
        nil), connection)
  }

  private static func aggregate(
    _ name: String, _ count: Int32, _ connection: OpaquePointer, step: Scalar
  ) throws(StoreError) {
    try check(
      sqlite3_create_function_v2(
        connection, name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil, nil, step, finish, nil),
      connection)
  }

  static func check(_ code: Int32, _ connection: OpaquePointer) throws(StoreError) {
    guard code != SQLITE_OK else { return }
    throw SQLiteErrors.error(
      code, String(cString: sqlite3_errmsg(connection)), operation: "define a function")
  }

  private static let match: Scalar = { context, count, values in
    guard let arguments = FunctionArguments(context, values),
      arguments.use(0, MatchProgram.kind, { check($0, arguments, count) })
    else { return FunctionArguments(context, values)?.misuse() ?? () }
  }

  @inline(__always)
  private static func check(
    _ program: MatchProgram, _ arguments: FunctionArguments, _ count: Int32
  ) {
    do throws(StoreError) {
      let holds = try program.condition.holds(for: arguments.storedText(1, isUTF8: program.isUTF8))
      {
        count > 2 ? arguments.attribute($0, from: 2) : .null
      }
      if holds { program.matches += 1 }
      sqlite3_result_int(arguments.context, holds ? 1 : 0)
    } catch {
      arguments.fail(error, program)
    }
  }

  /// Returns the sort key; never SQL NULL, because a null value has a key too.
  private static let sort: Scalar = { context, count, values in
    guard let arguments = FunctionArguments(context, values),
      let program: SortProgram = arguments.object(0, SortProgram.kind)
    else { return FunctionArguments(context, values)?.misuse() ?? () }
    do throws(StoreError) {
      let value = try program.ordering.value(arguments.storedText(1, isUTF8: program.isUTF8)) {
        count > 2 ? arguments.attribute($0, from: 2) : .null
      }
      let bytes = SortKey.bytes(value)
      bytes.withUnsafeBytes {
        sqlite3_result_blob64(
          context, $0.baseAddress, UInt64($0.count), SQLiteStatement.copies)
      }
    } catch {
      arguments.fail(error, program)
    }
  }

  private static let addAggregate: Scalar = { context, _, values in
    guard let arguments = FunctionArguments(context, values),
      let program: AggregateProgram = arguments.object(0, AggregateProgram.kind)
    else { return FunctionArguments(context, values)?.misuse() ?? () }
    do throws(StoreError) {
      try program.aggregation.add(arguments.storedText(1, isUTF8: program.isUTF8))
    } catch {
      arguments.fail(error, program)
    }
  }

  private static let addDistinct: Scalar = { context, _, values in
    guard let arguments = FunctionArguments(context, values),
      let program: DistinctProgram = arguments.object(0, DistinctProgram.kind)
    else { return FunctionArguments(context, values)?.misuse() ?? () }
    do throws(StoreError) {
      try program.values.add(arguments.storedText(1, isUTF8: program.isUTF8))
    } catch {
      arguments.fail(error, program)
    }
  }

  /// The result is read from the program, which the caller holds.
  private static let finish: Final = { context in sqlite3_result_null(context) }

  /// Implements `text REGEXP pattern` for user-supplied SQL.
  private static let regexp: Scalar = { context, _, values in
    guard let arguments = FunctionArguments(context, values) else { return }
    let pattern = String(decoding: arguments.text(0), as: UTF8.self)
    let text = String(decoding: arguments.text(1), as: UTF8.self)
    do throws(StoreError) {
      sqlite3_result_int(context, try TextPattern(.regexp, pattern).matches(text) ? 1 : 0)
    } catch {
      sqlite3_result_error(context, error.message, -1)
    }
  }
}
