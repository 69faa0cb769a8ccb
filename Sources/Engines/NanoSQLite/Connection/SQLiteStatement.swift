// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoSQL

/// A prepared statement, stepped through the C API: GRDB's argument and row layers take 1.5 to 2 times as long
/// on hot paths.
///
/// Confined to the connection that created it.
final class SQLiteStatement {
  let handle: OpaquePointer
  private let connection: OpaquePointer
  /// The objects that bound parameters point to, kept until the parameters are bound again.
  private(set) var boundObjects: [Program] = []
  /// A bit for each parameter that is NULL, as all parameters of a new statement are.
  private var nulls = UInt64.max
  /// Storage for the bytes of bound UUIDs, two words per parameter.
  private let uuids: UnsafeMutablePointer<UInt64>
  /// Storage for the digits of a foreign key while its row is read.
  private var foreignKeyText: UnsafeMutableRawBufferPointer?
  /// Whether the database stores text as UTF-8.
  let isUTF8: Bool
  var isInUse = false
  /// The statement's plan, if it is observed.
  var plan: StatementPlan?
  /// SQLite's re-prepare count when ``notePreparation()`` was last called.
  private var notedPreparations: Int32 = -1
  /// The text after the first statement.
  private(set) var tail = ""

  init(
    _ sql: String, on connection: SQLiteConnection, persistent: Bool = true
  ) throws(StoreError) {
    let isUTF8 = connection.isUTF8
    let database = connection.handle
    var handle: OpaquePointer?
    let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    var code = SQLITE_OK
    var tail = ""
    sql.withCString { start in
      var end: UnsafePointer<CChar>?
      code = sqlite3_prepare_v3(database, start, -1, flags, &handle, &end)
      if let end, end.pointee != 0 { tail = String(cString: end) }
    }
    guard code == SQLITE_OK, let handle else {
      guard code != SQLITE_OK else {
        throw StoreError(.database, "A statement is empty", [.operation: "prepare"])
      }
      if code == SQLITE_AUTH, let refusal = connection.statementGuard?.takeRefusal() {
        throw refusal
      }
      let error = SQLiteErrors.error(
        code, String(cString: sqlite3_errmsg(database)), operation: "prepare")
      connection.noteFailure(error)
      throw error
    }
    self.handle = handle
    uuids = .allocate(capacity: 2 * max(1, Int(sqlite3_bind_parameter_count(handle))))
    self.connection = database
    self.isUTF8 = isUTF8
    self.tail = tail
  }

  deinit {
    sqlite3_finalize(handle)
    uuids.deallocate()
    foreignKeyText?.deallocate()
  }

  /// Whether SQLite has not re-prepared the statement, because of a schema change, since ``notePreparation()``
  /// was called.
  @inline(__always)
  var isUnchangedSinceNoted: Bool { preparations == notedPreparations }
  func notePreparation() { notedPreparations = preparations }
  private var preparations: Int32 {
    sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
  }

  /// Advances to the next row; returns `false` at the end.
  @inline(__always)
  func step() throws(StoreError) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failure(code)
  }

  /// Runs the statement to the end and resets it.
  func run() throws(StoreError) {
    defer { reset() }
    while try step() {}
  }

  @inline(__always)
  func reset() { sqlite3_reset(handle) }

  func failure(_ code: Int32) -> StoreError {
    for program in boundObjects {
      if let failure = program.failure { return failure }
    }
    return SQLiteErrors.error(of: connection, operation: "step")
  }
}

extension SQLiteStatement {
  @inline(__always)
  func bind(_ value: Int64, at index: Int32) {
    markBound(index)
    sqlite3_bind_int64(handle, index, value)
  }

  @inline(__always)
  private func markBound(_ index: Int32) {
    if index <= Self.notedParameters { nulls &= ~(1 << UInt64(index)) }
  }

  @inline(__always)
  func bind(_ value: Int64?, at index: Int32) {
    if let value { bind(value, at: index) } else { bindNull(at: index) }
  }

  @inline(__always)
  func bindNull(at index: Int32) {
    if index <= Self.notedParameters {
      let bit: UInt64 = 1 << UInt64(index)
      guard nulls & bit == 0 else { return }
      nulls |= bit
    }
    sqlite3_bind_null(handle, index)
  }

  /// The number of the first parameters of which `nulls` has a bit.
  private static var notedParameters: Int32 { 63 }

  func bind(_ value: Double, at index: Int32) {
    markBound(index)
    sqlite3_bind_double(handle, index, value)
  }

  /// Binds text that remains valid until the statement is reset.
  @inline(__always)
  func bind(borrowedText bytes: UnsafeRawBufferPointer, at index: Int32) throws(StoreError) {
    markBound(index)
    let code = sqlite3_bind_text64(
      handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Self.empty,
      UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
    if code != SQLITE_OK { throw failure(code) }
  }

  func bind(_ text: String, at index: Int32) throws(StoreError) {
    var text = text
    markBound(index)
    let code = text.withUTF8 { bytes in
      sqlite3_bind_text64(
        handle, index,
        UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self) ?? Self.empty,
        UInt64(bytes.count), Self.copies, UInt8(SQLITE_UTF8))
    }
    if code != SQLITE_OK { throw failure(code) }
  }

  func bind(_ data: Data, at index: Int32) throws(StoreError) {
    markBound(index)
    // A null pointer would bind NULL instead of no bytes.
    let code = data.withUnsafeBytes { bytes in
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), Self.copies)
    }
    if code != SQLITE_OK { throw failure(code) }
  }

  @inline(__always)
  func bind(uuid high: UInt64, _ low: UInt64, at index: Int32) {
    let uuid = uuids + 2 * Int(index - 1)
    uuid[0] = high.bigEndian
    uuid[1] = low.bigEndian
    markBound(index)
    sqlite3_bind_blob(handle, index, uuid, 16, nil)
  }

  /// Binds a key; NULL for one that the database cannot contain, since SQLite would convert it to a different one.
  @inline(__always)
  func bind(_ key: DocumentKey?, at index: Int32) throws(StoreError) {
    switch key {
    case .uuid(let high, let low)?: bind(uuid: high, low, at: index)
    case .text(let text)? where isUTF8 || TextEncoding.preserves(text):
      try bind(text, at: index)
    case .text?, nil: bindNull(at: index)
    }
  }

  /// Binds an object that one of the store's SQL functions retrieves.
  func bind(object: Program, kind: StaticString, at index: Int32) {
    object.isUTF8 = isUTF8
    boundObjects.append(object)
    markBound(index)
    sqlite3_bind_pointer(
      handle, index, Unmanaged.passUnretained(object).toOpaque(),
      UnsafeRawPointer(kind.utf8Start).assumingMemoryBound(to: CChar.self), nil)
  }

  func bind(_ bindings: [SQLBinding]) throws(StoreError) {
    boundObjects.removeAll(keepingCapacity: true)
    for (offset, binding) in bindings.enumerated() {
      let index = Int32(offset + 1)
      switch binding {
      case .null: bindNull(at: index)
      case .int(let value): bind(value, at: index)
      case .double(let value): bind(value, at: index)
      case .text(let value): try bind(value, at: index)
      case .data(let value): try bind(value, at: index)
      case .uuid(let high, let low): try bind(Self.data(high, low), at: index)
      case .condition(let condition, let defaults):
        bind(object: try MatchProgram(condition, defaults), kind: MatchProgram.kind, at: index)
      case .ordering(let ordering, let defaults):
        bind(object: SortProgram(ordering, defaults), kind: SortProgram.kind, at: index)
      case .aggregates(let query, let defaults):
        bind(
          object: AggregateProgram(
            query, defaults, spills: TemporarySorter.isPermitted(on: connection)),
          kind: AggregateProgram.kind, at: index)
      case .distinct(let field, let defaults):
        bind(
          object: DistinctProgram(
            field, defaults, spills: TemporarySorter.isPermitted(on: connection)),
          kind: DistinctProgram.kind, at: index)
      }
    }
  }

  private static func data(_ high: UInt64, _ low: UInt64) -> Data {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
  }

  /// Releases the objects that parameters point to; they must not be used afterwards.
  func clear() {
    reset()
    guard !boundObjects.isEmpty else { return }
    sqlite3_clear_bindings(handle)
    nulls = .max
    boundObjects.removeAll(keepingCapacity: true)
  }

  /// `SQLITE_TRANSIENT`, which the C header defines as a cast that Swift does not import.
  static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  private static var empty: UnsafePointer<CChar> {
    UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

extension SQLiteStatement {
  @inline(__always)
  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  @inline(__always)
  func isInt(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  @inline(__always)
  func optionalInt(_ column: Int32) -> Int64? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : int(column)
  }

  /// The bytes of a text in the database's encoding, without the copy that SQLite makes to append a NUL. Valid
  /// until the next step.
  @inline(__always)
  func storedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard isUTF8 else { return bytes(column) }
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// A number that is rarely NULL, or that is almost always NULL.
  @inline(__always)
  func optionalNumber(_ column: Int32) -> Int64? {
    let value = int(column)
    return value != 0 || sqlite3_column_type(handle, column) != SQLITE_NULL ? value : nil
  }

  /// The bytes of a text as UTF-8. Valid until the next step.
  @inline(__always)
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_text(handle, column)
    return UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  func text(_ column: Int32) -> String? {
    guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
    return String(decoding: bytes(column), as: UTF8.self)
  }

  func data(_ column: Int32) -> Data? {
    guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    guard let start = sqlite3_column_blob(handle, column) else { return Data() }
    return Data(bytes: start, count: count)
  }

  /// The bytes of a text, `nil` for NULL. Valid until the next step.
  @inline(__always)
  func optionalBytes(_ column: Int32) -> UnsafeRawBufferPointer? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    return UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// A key column: the 16 bytes of a UUID, or text. Valid until the next step.
  @inline(__always)
  func borrowedKey(_ column: Int32) -> BorrowedKey {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_BLOB:
      guard sqlite3_column_bytes(handle, column) == 16,
        let start = sqlite3_column_blob(handle, column)
      else { return foreignKey(column) }
      return .uuid(
        start.loadUnaligned(as: UInt64.self).bigEndian,
        start.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian)
    case SQLITE_NULL: return .none
    default:
      let text = bytes(column)
      // Another program may have written a UUID as text.
      if text.count == 36, let (high, low) = DocumentKey.uuid(text) { return .uuid(high, low) }
      return .text(text)
    }
  }

  /// Returns a key for a blob that is not a UUID, as only another program can write: its hexadecimal form.
  @inline(never)
  private func foreignKey(_ column: Int32) -> BorrowedKey {
    let digits = (data(column) ?? Data()).withUnsafeBytes { Self.hexadecimal($0) }
    foreignKeyText?.deallocate()
    let text = UnsafeMutableRawBufferPointer.allocate(byteCount: digits.utf8.count, alignment: 1)
    text.copyBytes(from: digits.utf8)
    foreignKeyText = text
    return .text(UnsafeRawBufferPointer(text))
  }

  /// The text form of a key that is neither a string nor a UUID.
  static func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  func key(_ column: Int32) -> DocumentKey? { borrowedKey(column).key }

  /// Returns the values of the first columns.
  func values(_ count: Int) -> [DocumentValue] { (0..<Int32(count)).map { value($0) } }

  func value(_ column: Int32) -> DocumentValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .int(int(column))
    case SQLITE_FLOAT: .double(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: .string(String(decoding: bytes(column), as: UTF8.self))
    case SQLITE_BLOB: .data(data(column) ?? Data())
    default: .null
    }
  }
}
