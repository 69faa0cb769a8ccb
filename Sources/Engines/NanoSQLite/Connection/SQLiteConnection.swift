// SPDX-License-Identifier: MIT

import GRDB
import GRDBSQLite
import Logging
import NanoDocument
import NanoEngine
import NanoSQL
import Synchronization

/// A SQLite connection with its handle, prepared statements, and cached metadata about collections.
///
/// Confined to the thread that holds it, which debug builds check: the writing connection belongs to the holder of
/// `SQLiteEngine.writing`, a reader to the call that `ReaderPool` has lent it to, and a connection that is not
/// shared to the thread that created it.
final class SQLiteConnection {
  let handle: OpaquePointer
  /// Set by the engine and the pool, whenever they hand the connection over.
  let owner = ThreadOwner()
  private var statements: [ExactName: SQLiteStatement] = [:]
  /// The statements that begin and end transactions, found without hashing their text.
  var boundaries: [(text: String, statement: SQLiteStatement)] = []
  /// The statement that ends a failed transaction.
  ///
  /// Prepared before a transaction begins: if memory runs out, it may be impossible to prepare it when it is
  /// needed, and the lock would be held forever.
  var rollbackStatement: SQLiteStatement?
  /// Whether memory ran out, or SQLite rolled back a transaction because a statement failed. Its full-text indexes
  /// may then cache pages that are not in the file, and an outdated snapshot (seen with 3.40), because the rollback
  /// reaches them in the middle of a write.
  var hasStaleCaches = false
  var tables: [ExactName: CollectionTable] = [:] {
    didSet { last = nil }
  }
  /// The collection that the running call used last, for error details.
  var currentCollection: String?
  /// The table that was used last, found without hashing its name.
  private var last: (name: String, table: CollectionTable)?
  let isReadOnly: Bool
  /// Receives reports about scans; `nil` if they are not observed.
  let observer: QueryObserver?
  /// Whether no other connection has committed since this one did.
  var isUnchanged = false
  /// Whether another connection has committed since this one did.
  var sawOtherWriter = false
  var versionAfterCommit: UInt32?
  /// The number of writing transactions that have begun.
  var transactions = 0
  /// Whether the database stores text as UTF-8, so that it can be read in place.
  let isUTF8: Bool
  private var cachedEncoding: String?
  /// The interruption of the call that runs on this connection.
  ///
  /// `sqlite3_interrupt` stops only statements that run (https://sqlite.org/c3ref/interrupt.html). If the
  /// interruption is triggered just before a statement starts, the progress handler stops it.
  var interruption: Interruption? {
    didSet {
      assertHeld()
      setBusyHandler(interruption)
      guard let interruption else { return sqlite3_progress_handler(handle, 0, nil, nil) }
      sqlite3_progress_handler(
        handle, Self.progressInterval,
        { context in
          guard let context else { return 0 }
          let interruption = Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
          return interruption.isTriggered ? 1 : 0
        }, Unmanaged.passUnretained(interruption).toOpaque())
    }
  }
  /// How long a statement waits for the lock of another connection, in milliseconds.
  var busyTimeout: Int32 = 0 {
    didSet {
      sqlite3_busy_timeout(handle, busyTimeout)
      lockWait = LockWait(timeout: busyTimeout)
    }
  }
  private var lockWait: LockWait?

  /// Without an interruption, SQLite's own handler waits, because `PRAGMA busy_timeout` returns 0 for any other.
  private func setBusyHandler(_ interruption: Interruption?) {
    guard let lockWait, interruption != nil || lockWait.interruption != nil else { return }
    lockWait.interruption = interruption
    if interruption == nil {
      sqlite3_busy_timeout(handle, busyTimeout)
    } else {
      lockWait.install(on: handle)
    }
  }

  /// Instructions of SQLite's virtual machine between two checks; about a millisecond. Arbitrary, but more than a
  /// ROLLBACK has.
  private static let progressInterval: Int32 = 20_000
  var isTransactionOpen = false
  var triggers = TriggerSwitch()
  /// The error after which the transaction can only be rolled back. SQLite may have done so already; a further
  /// statement would then be committed on its own.
  var loss: StoreError?

  /// Whether the tables of attachments are known to exist.
  var knowsBlobTables = false
  /// The attachments that are being read; `nil` if each reader has its own snapshot.
  var blobPins: BlobPins?
  /// The clock by which documents expire.
  var clock: any StoreClock = SystemClock()
  /// Whether documents of any collection may expire, shared by the connections of an engine.
  let hasExpirations: ExpirationFlag

  /// Records what a transaction changes, while there are observers.
  var recorder: ChangeRecorder?
  /// The state of the file after the last commit of another connection that was reported to observers.
  var othersVersion: Int64?
  /// What was reported of other connections' commits to tracked collections.
  var otherCommits = OtherCommits()
  /// Unique among the connections of the process.
  let number = SQLiteConnection.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt32>(0)

  private let logger: Logger?
  /// Rejects user-supplied statements; `nil` if they are unrestricted.
  let statementGuard: StatementGuard?

  /// - Parameter logger: Receives every completed statement at the level `trace`, with its parameter
  ///   placeholders but never their values.
  init(
    _ handle: OpaquePointer, isReadOnly: Bool, isGuarded: Bool = false, logger: Logger? = nil,
    observer: QueryObserver? = nil, hasExpirations: ExpirationFlag = ExpirationFlag()
  ) {
    self.handle = handle
    self.hasExpirations = hasExpirations
    self.observer = observer
    self.logger = logger.flatMap { $0.logLevel == .trace ? $0 : nil }
    statementGuard = isGuarded ? StatementGuard(handle) : nil
    self.isReadOnly = isReadOnly
    isUTF8 = TextEncoding.isUTF8(handle)
    owner.take()
  }

  /// Traps in debug builds if the current thread does not hold the connection.
  @inline(__always)
  func assertHeld() {
    assert(owner.isCurrent, "A SQLite connection is used by a thread that does not hold it")
  }

  @inline(__always)
  func lastTable(_ name: String) -> CollectionTable? {
    guard let last, last.name.hasSameBytes(as: name) else { return nil }
    return last.table
  }

  @inline(__always)
  func noteLast(_ name: String, _ table: CollectionTable) {
    if last?.table !== table { last = (name, table) }
  }

  /// Makes statements determine their plans again.
  func forgetPlans() {
    guard observer != nil else { return }
    for statement in statements.values { statement.plan = nil }
  }

  /// Releases all statements and tables, as required before the connection closes.
  func removeAll() {
    assertHeld()
    statements.removeAll()
    boundaries.removeAll()
    rollbackStatement = nil
    tables.removeAll()
  }

  /// Releases every statement; an open statement would keep the connection from closing.
  func prepareToClose() {
    record(false)
    removeAll()
    statementGuard?.remove()
    FieldAccess.unregister(on: handle)
  }

  /// Runs a block with a prepared statement from the cache. A statement that is in use, because the block of an
  /// outer call runs the same query, is prepared a second time.
  @inline(__always)
  func with<Result>(
    _ sql: String, needsTriggers: Bool = true, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    assertHeld()
    if hasStaleCaches { resetSchemaCache() }
    let text = ExactName(sql)
    if let statement = statements[text], !statement.isInUse {
      return try use(statement, needsTriggers: needsTriggers, work)
    }
    let statement = try SQLiteStatement(sql, on: self)
    if statements[text] == nil {
      if statements.count >= Self.maximumStatements {
        statements = statements.filter { $0.value.isInUse }
      }
      statements[text] = statement
    }
    return try use(statement, needsTriggers: needsTriggers, work)
  }

  func with<Result>(
    _ fragment: SQLFragment, needsTriggers: Bool = true,
    _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try with(fragment.text, needsTriggers: needsTriggers) { statement in
      try statement.bind(fragment.bindings)
      return try work(statement)
    }
  }

  /// - Parameter needsTriggers: Whether the statement may fire a trigger, or may run while others do.
  @inline(__always)
  func use<Result>(
    _ statement: SQLiteStatement, needsTriggers: @autoclosure () -> Bool = true,
    _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    assertHeld()
    try interruption?.check()
    if let loss { throw loss }
    if _slowPath(!triggers.isOn), needsTriggers() { fireTriggers() }
    statement.isInUse = true
    defer {
      statement.clear()
      statement.isInUse = false
    }
    do {
      return try logged(statement) { try work(statement) }
    } catch {
      recorder?.noteFailure()
      noteFailure(error)
      throw error
    }
  }

  /// Logs a completed statement with its duration, which includes the processing of its rows.
  @inline(__always)
  func logged<Result>(_ statement: SQLiteStatement, _ work: () throws -> Result) rethrows -> Result
  {
    guard let logger else { return try work() }
    let start = ContinuousClock.now
    defer { log(statement, ContinuousClock.now - start, logger) }
    return try work()
  }

  private func log(_ statement: SQLiteStatement, _ duration: Duration, _ logger: Logger) {
    let text = sqlite3_sql(statement.handle).map { String(cString: $0) } ?? ""
    logger.trace(
      "statement",
      metadata: [
        "sql": "\(text)", "connection": "\(isReadOnly ? "reader" : "writer")",
        "microseconds": "\(Int(duration / .microseconds(1)))",
      ])
  }

  /// The maximum number of cached statements per connection. Arbitrary; a program rarely has more kinds of
  /// queries.
  private static let maximumStatements = 256

  /// Runs statements without parameters and result rows, such as schema definitions.
  func execute(_ sql: String) throws(StoreError) {
    fireTriggers()
    try runDirectly(sql)
  }

  /// Runs a statement about a savepoint. Triggers stay as they are.
  func executeSavepoint(_ sql: String) throws(StoreError) { try runDirectly(sql) }

  private func runDirectly(_ sql: String) throws(StoreError) {
    assertHeld()
    if let loss { throw loss }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      let error = SQLiteErrors.error(of: handle, operation: "execute")
      noteFailure(error)
      throw error
    }
  }

  func run(_ fragment: SQLFragment) throws { try with(fragment) { try $0.run() } }

  /// The text encoding of the file: `UTF-8`, `UTF-16le`, or `UTF-16be`.
  func encoding() throws -> String {
    if let cachedEncoding { return cachedEncoding }
    let encoding = try first(SQLFragment("PRAGMA encoding")) { $0.text(0) } ?? nil
    cachedEncoding = encoding
    return encoding ?? ""
  }

  /// Returns the first row of a query, or `nil` if there is none.
  func first<Result>(
    _ fragment: SQLFragment, needsTriggers: Bool = true,
    _ read: (SQLiteStatement) throws -> Result
  ) throws -> Result? {
    try with(fragment, needsTriggers: needsTriggers) { try $0.step() ? try read($0) : nil }
  }

  func all<Result>(
    _ fragment: SQLFragment, _ read: (SQLiteStatement) throws -> Result
  ) throws -> [Result] {
    try with(fragment) { statement in
      var rows: [Result] = []
      while try statement.step() { rows.append(try read(statement)) }
      return rows
    }
  }

  @inline(__always)
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  var changes: Int { Int(sqlite3_changes64(handle)) }

  /// Whether a statement has returned a row and has not ended.
  var hasRunningStatements: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0 { return true }
      statement = sqlite3_next_stmt(handle, current)
    }
    return false
  }
}
