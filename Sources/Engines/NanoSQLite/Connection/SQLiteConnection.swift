// SPDX-License-Identifier: MIT

import GRDB
import GRDBSQLite
import Logging
import NanoDocument
import NanoEngine
import NanoSQL
import Synchronization

/// One connection: its handle, its statements, and what it knows of the collections.
///
/// Confined to one call at a time, on the thread of the caller: the writing connection while `SQLiteEngine.writing` is held, a
/// reader while `ReaderPool` has lent it to a call.
final class SQLiteConnection {
  let handle: OpaquePointer
  private var statements: [ExactName: SQLiteStatement] = [:]
  /// The statements that begin and end transactions, found without hashing their texts.
  private var boundaries: [(text: String, statement: SQLiteStatement)] = []
  /// Ends a transaction that failed. Prepared before one begins: if memory ran out, there may be none to prepare
  /// it when it is needed, and the lock would stay.
  private var rollbackStatement: SQLiteStatement?
  /// Whether memory ran out. SQLite undoes what it wrote then, but its text indexes may keep pages in mind that
  /// are not in the file, and a snapshot that is long past (seen with 3.40).
  private var ranOutOfMemory = false
  var tables: [ExactName: CollectionTable] = [:] {
    didSet { last = nil }
  }
  /// The collection that the running call asked about last, for errors.
  var asked: String?
  /// The table that was used last, found without hashing its name.
  private var last: (name: String, table: CollectionTable)?
  let isReadOnly: Bool
  /// Who is told of scans; nil if nobody wants to know.
  let observer: QueryObserver?
  /// Whether no other connection has committed since this one did.
  private(set) var isUnchanged = false
  /// Whether another connection has.
  private(set) var sawOtherWriter = false
  private var versionAfterCommit: UInt32?
  /// Whether texts are kept in UTF-8, so that they can be read where they stand.
  let isUTF8: Bool
  private var knownEncoding: String?
  /// What may stop the call that runs on this connection.
  var interruption: Interruption?
  fileprivate var isTransactionOpen = false
  /// Why SQLite undid the transaction before its block ended.
  fileprivate var loss: StoreError?

  /// Writes down what a transaction changes, while somebody wants to know.
  var recorder: ChangeRecorder?
  /// The state of the file after the last commit of another connection that was told of.
  var othersVersion: Int64?
  /// Different for each connection of the process.
  private let number = SQLiteConnection.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt32>(0)

  private let logger: Logger?
  /// Refuses statements of the caller's own; nil where they may do everything.
  let statementGuard: StatementGuard?

  /// - Parameter logger: Gets every statement at the level `trace`, with its parameters' places but
  ///   never their values, when it has ended.
  init(
    _ handle: OpaquePointer, isReadOnly: Bool, isGuarded: Bool = false, logger: Logger? = nil,
    observer: QueryObserver? = nil
  ) {
    self.handle = handle
    self.observer = observer
    self.logger = logger.flatMap { $0.logLevel == .trace ? $0 : nil }
    statementGuard = isGuarded ? StatementGuard(handle) : nil
    self.isReadOnly = isReadOnly
    isUTF8 = TextEncoding.isUTF8(handle)
  }

  @inline(__always)
  func lastTable(_ name: String) -> CollectionTable? {
    guard let last, last.name.isSame(as: name) else { return nil }
    return last.table
  }

  @inline(__always)
  func noteLast(_ name: String, _ table: CollectionTable) {
    if last?.table !== table { last = (name, table) }
  }

  /// Lets statements find out anew how they run.
  func forgetPlans() {
    guard observer != nil else { return }
    for statement in statements.values { statement.plan = nil }
  }

  /// Forgets statements and tables, as must be done before the connection closes.
  func removeAll() {
    statements.removeAll()
    boundaries.removeAll()
    rollbackStatement = nil
    tables.removeAll()
  }

  /// Lets go of every statement, without which the connection could not close.
  func prepareToClose() {
    record(false)
    removeAll()
    statementGuard?.remove()
    FieldAccess.unregister(on: handle)
  }

  /// Runs a block with a prepared statement and takes it back. A statement that is in use, because
  /// the block of an outer call runs the same query, is prepared a second time.
  @inline(__always)
  func with<Result>(
    _ sql: String, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    if ranOutOfMemory { renew() }
    let text = ExactName(sql)
    if let statement = statements[text], !statement.isInUse {
      return try use(statement, work)
    }
    let statement = try SQLiteStatement(sql, on: self)
    if statements[text] == nil {
      if statements.count >= Self.maximumStatements {
        statements = statements.filter { $0.value.isInUse }
      }
      statements[text] = statement
    }
    return try use(statement, work)
  }

  func with<Result>(
    _ fragment: SQLFragment, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try with(fragment.text) { statement in
      try statement.bind(fragment.bindings)
      return try work(statement)
    }
  }

  @inline(__always)
  func use<Result>(
    _ statement: SQLiteStatement, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try interruption?.check()
    statement.isInUse = true
    defer {
      statement.clear()
      statement.isInUse = false
    }
    do {
      return try logged(statement) { try work(statement) }
    } catch {
      recorder?.noteFailure()
      noteMemory(error)
      noteLoss(error)
      throw error
    }
  }

  /// Logs a statement that was run, and the time it took with all that was done with its rows.
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

  /// Statements kept for one connection. Arbitrary; a program has rarely more kinds of queries.
  private static let maximumStatements = 256

  /// Runs statements without parameters and rows, such as definitions.
  func execute(_ sql: String) throws(StoreError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      let error = SQLiteErrors.error(of: handle, operation: "execute")
      noteMemory(error)
      noteLoss(error)
      throw error
    }
  }

  /// Runs `COMMIT`, or one of the statements that begin a transaction.
  fileprivate func runBoundary(_ text: String) throws {
    if let known = boundaries.first(where: { $0.text == text }) {
      return try use(known.statement) { try $0.run() }
    }
    let statement = try SQLiteStatement(text, on: self)
    boundaries.append((text, statement))
    try use(statement) { try $0.run() }
  }

  private func noteMemory(_ error: any Error) {
    if (error as? StoreError)?.code == .outOfMemory { ranOutOfMemory = true }
  }

  /// Forgets everything that SQLite keeps in mind of the file, between transactions.
  private func renew() {
    guard !isInTransaction else { return }
    removeAll()
    // Nothing was writable; what counts is that the schema goes, and with it the state of text indexes.
    // Beginning and ending to read lets go of a snapshot.
    let code = sqlite3_exec(
      handle, "PRAGMA writable_schema = RESET; BEGIN; SELECT 1 FROM sqlite_schema; COMMIT", nil,
      nil, nil)
    ranOutOfMemory = code != SQLITE_OK
    rollback()
  }

  fileprivate func prepareRollback() throws {
    // One that could not be undone when it failed.
    if isInTransaction { rollback() }
    if ranOutOfMemory { renew() }
    if rollbackStatement == nil { rollbackStatement = try SQLiteStatement("ROLLBACK", on: self) }
  }

  /// Undoes the open transaction, if SQLite has not done so already, as after a full disk. Not by way of
  /// ``use(_:_:)``, which refuses a call that was stopped.
  fileprivate func rollback() {
    guard isInTransaction else { return }
    if let rollbackStatement {
      sqlite3_step(rollbackStatement.handle)
      rollbackStatement.reset()
    }
    // Statements are prepared anew after the schema has changed, which takes memory too.
    if isInTransaction { try? execute("ROLLBACK") }
  }

  func run(_ fragment: SQLFragment) throws { try with(fragment) { try $0.run() } }

  /// How the file keeps texts: `UTF-8`, `UTF-16le` or `UTF-16be`.
  func encoding() throws -> String {
    if let knownEncoding { return knownEncoding }
    let encoding = try first(SQLFragment("PRAGMA encoding")) { $0.text(0) } ?? nil
    knownEncoding = encoding
    return encoding ?? ""
  }

  /// The first row of a query, nil if there is none.
  func first<Result>(
    _ fragment: SQLFragment, _ read: (SQLiteStatement) throws -> Result
  ) throws -> Result? {
    try with(fragment) { try $0.step() ? try read($0) : nil }
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

  /// Counts the commits of every connection; known only inside a transaction that has begun to read.
  private var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// What this connection sees; nil if it has not begun to read.
  var committedState: CommittedState? {
    guard sqlite3_txn_state(handle, "main") != SQLITE_TXN_NONE else { return nil }
    return CommittedState(observer: number, count: dataVersion)
  }

  /// Asked when a writing transaction has begun.
  func noteBegin() {
    isUnchanged = dataVersion == versionAfterCommit
    sawOtherWriter = !isUnchanged && versionAfterCommit != nil
    // Also those that this transaction does not touch: the next one sees no change in between.
    if !isUnchanged { for table in tables.values { table.isPrepared = false } }
  }
  func noteCommit() { versionAfterCommit = dataVersion }
  func noteRollback() {
    versionAfterCommit = nil
    isUnchanged = false
  }

  @inline(__always)
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  var changes: Int { Int(sqlite3_changes64(handle)) }
}

extension SQLiteConnection {
  /// Runs a block between BEGIN and COMMIT; an error rolls back.
  func transaction<Result>(_ begin: String, _ work: () throws -> Result) throws -> Result {
    try prepareRollback()
    try runBoundary(begin)
    isTransactionOpen = true
    defer {
      isTransactionOpen = false
      loss = nil
    }
    do {
      let result = try work()
      try requireTransaction()
      try runBoundary("COMMIT")
      return result
    } catch {
      rollback()
      throw error
    }
  }

  /// Runs a block whose statements all see the same state.
  func consistently<Result>(_ work: () throws -> Result) throws -> Result {
    isInTransaction ? try work() : try transaction("BEGIN DEFERRED", work)
  }

  /// - Throws: What made SQLite undo the transaction. A block that caught that error must not write
  ///   on: each statement would be committed by itself.
  @inline(__always)
  func requireTransaction() throws(StoreError) {
    guard !isInTransaction else { return }
    throw loss ?? StoreError(.database, "The transaction was ended by a statement inside it")
  }

  /// Undoes a part of a transaction. Where that fails, as after an error of reading, the whole is undone: a caller
  /// who catches the error must not commit what is left of the part.
  func undo(to savepoint: String) {
    do {
      try execute("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
    } catch {
      rollback()
      noteLoss(error)
    }
  }

  /// Keeps why a transaction was lost, for statements that are not run by ``with(_:_:)``.
  func noting<Result>(_ work: () throws -> Result) throws -> Result {
    try interruption?.check()
    do {
      return try work()
    } catch {
      noteLoss(error)
      throw error
    }
  }

  private func noteLoss(_ error: any Error) {
    guard isTransactionOpen, loss == nil, !isInTransaction else { return }
    loss = error as? StoreError
  }
}
