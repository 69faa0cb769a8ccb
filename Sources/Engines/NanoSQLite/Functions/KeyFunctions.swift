// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument

/// Functions that convert between fields and keys, for joins. A key that is a UUID is stored as 16 bytes, a field with
/// such a key as text.
enum KeyFunctions {
  static func register(on connection: OpaquePointer) throws(StoreError) {
    for (name, function) in [("nano_key", key), ("nano_key_text", text)] {
      try QueryFunctions.check(
        sqlite3_create_function_v2(
          connection, name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC, nil,
          function, nil, nil, nil), connection)
    }
  }

  /// Returns a text as the key column stores it.
  private static let key: QueryFunctions.Scalar = { context, _, values in
    guard let values, sqlite3_value_type(values[0]) == SQLITE_TEXT,
      let arguments = FunctionArguments(context, values)
    else { return sqlite3_result_null(context) }
    guard let (high, low) = DocumentKey.uuid(arguments.text(0)) else {
      return sqlite3_result_value(context, values[0])
    }
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
      sqlite3_result_blob(context, $0.baseAddress, 16, SQLiteStatement.copies)
    }
  }

  /// Returns a key as a field stores it.
  private static let text: QueryFunctions.Scalar = { context, _, values in
    guard let values, let arguments = FunctionArguments(context, values),
      case .string(let text) = arguments.keyValue(0)
    else { return sqlite3_result_null(context) }
    var copy = text
    copy.withUTF8 {
      $0.withMemoryRebound(to: CChar.self) { bytes in
        sqlite3_result_text(
          context, bytes.baseAddress, Int32(bytes.count), SQLiteStatement.copies)
      }
    }
  }
}
