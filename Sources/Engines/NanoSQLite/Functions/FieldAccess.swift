// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument

/// An implementation of `json_extract(body, '$."a"."b"')` that finds the field in the bytes without parsing the
/// rest.
///
/// SQLite prefers a function of exactly two arguments to its own variadic one, so the schema stays that of plain
/// SQLite while indexes and queries on the store's connections become faster: a scan takes about a quarter of
/// the time. Everything that this implementation does not handle exactly as SQLite does is delegated to SQLite's
/// own operators.
enum FieldAccess {
  /// The per-connection state of the function: statements that call SQLite's own implementation.
  private final class Fallback {
    private let connection: OpaquePointer
    private var text: OpaquePointer?
    private var json: OpaquePointer?
    private var refusal: OpaquePointer?

    /// Determined at the first call, when the database has a table and its encoding is fixed.
    private(set) lazy var isUTF8 = TextEncoding.isUTF8(connection)

    init(_ connection: OpaquePointer) { self.connection = connection }

    deinit {
      sqlite3_finalize(text)
      sqlite3_finalize(json)
      sqlite3_finalize(refusal)
    }

    /// Returns SQLite's own result.
    ///
    /// `->>` returns scalars as `json_extract` does; an array or object must be marked as JSON. Only `->>`
    /// accepts a path that does not begin with `$`; passing such a path twice calls SQLite's own `json_extract`,
    /// which rejects it.
    func setResult(_ arguments: FunctionArguments, isContainer: Bool) {
      let statement =
        isContainer
        ? prepared(&json, "SELECT ?1 -> ?2")
        : arguments.isPath(1)
          ? prepared(&text, "SELECT ?1 ->> ?2")
          : prepared(&refusal, "SELECT json_extract(?1, ?2, ?2)")
      guard let statement else { return FieldAccess.fail(arguments.context) }
      defer {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
      sqlite3_bind_value(statement, 1, arguments.values[0])
      sqlite3_bind_value(statement, 2, arguments.values[1])
      guard sqlite3_step(statement) == SQLITE_ROW else {
        return FieldAccess.fail(arguments.context)
      }
      sqlite3_result_value(arguments.context, sqlite3_column_value(statement, 0))
      // The subtype by which SQLite's JSON functions distinguish JSON from text.
      if isContainer { sqlite3_result_subtype(arguments.context, UInt32(UInt8(ascii: "J"))) }
    }

    private func prepared(_ statement: inout OpaquePointer?, _ sql: String) -> OpaquePointer? {
      if statement == nil {
        sqlite3_prepare_v3(
          connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
      }
      return statement
    }
  }

  /// SQLITE_RESULT_SUBTYPE, which headers before version 3.45 lack, and SQLite before it ignores. Without it, an index on
  /// the same expression replaces calls even where the result must be marked as JSON.
  private static let returnsSubtype: Int32 = 0x100_0000

  static func register(on connection: OpaquePointer) throws(StoreError) {
    let fallback = Unmanaged.passRetained(Fallback(connection)).toOpaque()
    try QueryFunctions.check(
      sqlite3_create_function_v2(
        connection, "json_extract", 2,
        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | returnsSubtype,
        fallback, extract, nil, nil, { Unmanaged<Fallback>.fromOpaque($0!).release() }),
      connection)
  }

  /// Finalizes the statements; an open statement would keep the connection from closing.
  static func unregister(on connection: OpaquePointer) {
    sqlite3_create_function_v2(
      connection, "json_extract", 2, SQLITE_UTF8, nil, nil, nil, nil, nil)
  }

  /// Returns the error of the last statement to SQLite.
  private static func fail(_ context: OpaquePointer?) {
    let connection = sqlite3_context_db_handle(context)
    let code = sqlite3_errcode(connection)
    sqlite3_result_error(context, sqlite3_errmsg(connection), -1)
    // Otherwise, it would be an error of the statement, as if memory or the file had not failed.
    if code != SQLITE_ERROR { sqlite3_result_error_code(context, code) }
  }

  private enum Found {
    case value(JSONReader)
    case nothing
    case unsure
  }

  private static let extract: QueryFunctions.Scalar = { context, _, values in
    guard let arguments = FunctionArguments(context, values) else { return }
    let fallback = Unmanaged<Fallback>.fromOpaque(sqlite3_user_data(context))
    guard sqlite3_value_type(arguments.values[0]) == SQLITE_TEXT else {
      return fallback._withUnsafeGuaranteedRef { $0.setResult(arguments, isContainer: false) }
    }
    let isUTF8 = fallback._withUnsafeGuaranteedRef(\.isUTF8)
    let body = arguments.storedText(0, isUTF8: isUTF8)
    switch find(arguments.storedText(1, isUTF8: isUTF8), in: body) {
    case .nothing: sqlite3_result_null(context)
    case .unsure:
      fallback._withUnsafeGuaranteedRef { fallback in
        guard let isJSON = arguments.isPath(1) ? isContainer(arguments) : false else {
          return fail(context)
        }
        fallback.setResult(arguments, isContainer: isJSON)
      }
    case .value(let reader):
      if !setScalarResult(reader, context) {
        var reader = reader
        let kind = reader.kind()
        fallback._withUnsafeGuaranteedRef {
          $0.setResult(arguments, isContainer: kind == .array || kind == .object)
        }
      }
    }
  }

  /// Uses SQLite where the scanner cannot determine the result; `nil` if SQLite failed.
  private static func isContainer(_ arguments: FunctionArguments) -> Bool? {
    let connection = sqlite3_context_db_handle(arguments.context)
    var statement: OpaquePointer?
    sqlite3_prepare_v2(connection, "SELECT json_type(?1, ?2)", -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    sqlite3_bind_value(statement, 1, arguments.values[0])
    sqlite3_bind_value(statement, 2, arguments.values[1])
    guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
    // NULL if there is nothing at the path.
    guard let type = sqlite3_column_text(statement, 0) else { return false }
    return type[0] == UInt8(ascii: "a") || type[0] == UInt8(ascii: "o")
  }

  /// Follows a path of the form `$.a."b"`.
  private static func find(
    _ path: UnsafeRawBufferPointer, in body: UnsafeRawBufferPointer
  ) -> Found {
    guard path.count > 2, path[0] == UInt8(ascii: "$") else { return .unsure }
    var reader = JSONReader(body)
    var at = 1
    while at < path.count {
      guard path[at] == UInt8(ascii: "."), at + 1 < path.count else { return .unsure }
      at += 1
      guard let name = takeName(path, &at) else { return .unsure }
      let kind = reader.kind()
      guard kind == .object else { return kind == .none ? .unsure : .nothing }
      do {
        switch try findField(name, &reader) {
        case .value: continue
        case let other: return other
        }
      } catch {
        return .unsure
      }
    }
    return .value(reader)
  }

  private static func takeName(
    _ path: UnsafeRawBufferPointer, _ at: inout Int
  ) -> UnsafeRawBufferPointer? {
    let isQuoted = path[at] == UInt8(ascii: "\"")
    if isQuoted { at += 1 }
    let start = at
    while at < path.count {
      switch path[at] {
      case UInt8(ascii: "\""):
        guard isQuoted else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: path[start..<at])
        at += 1
        return name
      case UInt8(ascii: "."), UInt8(ascii: "["):
        if !isQuoted {
          return at > start ? UnsafeRawBufferPointer(rebasing: path[start..<at]) : nil
        }
      case UInt8(ascii: "\\"): return nil
      default: break
      }
      at += 1
    }
    return isQuoted || at == start ? nil : UnsafeRawBufferPointer(rebasing: path[start..<at])
  }

  /// Finds a field of an object. An escape in any earlier name makes the result unsure: whether SQLite compares
  /// names with or without their escapes depends on its version.
  private static func findField(
    _ name: UnsafeRawBufferPointer, _ reader: inout JSONReader
  ) throws(StoreError) -> Found {
    _ = reader.peekConsume(UInt8(ascii: "{"))
    if reader.peekConsume(UInt8(ascii: "}")) { return .nothing }
    repeat {
      let found = try reader.rawName()
      if found.hasEscapes { return .unsure }
      // SQLite never considers a name with one `$` equal to one with two.
      if found.matches(name), found.bytes.count == name.count { return .value(reader) }
      try reader.skipValue()
    } while reader.peekConsume(UInt8(ascii: ","))
    try reader.expect(UInt8(ascii: "}"))
    return .nothing
  }

  /// Returns a scalar to SQLite; `false` for values that must be left to SQLite's own functions.
  private static func setScalarResult(_ reader: JSONReader, _ context: OpaquePointer?) -> Bool {
    var reader = reader
    switch reader.kind() {
    case .string:
      guard let string = try? reader.rawString(), !string.isEscaped else { return false }
      // A null pointer would return NULL instead of an empty string.
      let start = string.bytes.baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)
      sqlite3_result_text64(
        context, start.assumingMemoryBound(to: CChar.self), UInt64(string.bytes.count),
        SQLiteStatement.copies, UInt8(SQLITE_UTF8))
    case .number:
      let first = reader.offset
      guard let value = try? reader.value() else { return false }
      let length = reader.offset - first
      switch value {
      case .int(let number) where length <= 18: sqlite3_result_int64(context, number)
      // For doubles with more digits, SQLite's rounding differs on some machines.
      case .double(let number) where length <= 17: sqlite3_result_double(context, number)
      default: return false
      }
    case .bool:
      guard let flag = try? reader.bool() else { return false }
      sqlite3_result_int(context, flag ? 1 : 0)
    case .null: sqlite3_result_null(context)
    case .array, .object, .none: return false
    }
    return true
  }
}
