// SPDX-License-Identifier: MIT

import CLibPQ
import Dispatch
import Foundation
import NanoDocument
import NanoEngine

/// One connection to a server, in libpq's pipeline mode: statements are sent together, and their results
/// return together, in one round trip.
///
/// Statements between two synchronization points of a pipeline are one transaction, unless they include BEGIN.
/// Source: https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
///
/// Confined to the caller that has taken it from the pool.
final class PostgresConnection {
  let handle: OpaquePointer
  private let canceller: Canceller
  /// Whether statements stay prepared, which is not the case behind a pooler.
  private let keepsStatements: Bool
  /// The names of prepared statements, by statement text.
  private var prepared: [ExactName: String] = [:]
  private var lastName = 0
  /// The pending results of everything sent, in order.
  private var expected: [Expectation] = []
  /// Whether a cancel request was sent that may arrive after its statement has ended.
  private var mayReceiveLateCancel = false
  private var buffer: [UInt8] = []
  /// The interruption of the running statements.
  private var interruption: Interruption?

  private enum Expectation {
    case statement
    case preparation(of: ExactName)
    /// A statement that the connection issued itself.
    case maintenance
    case end
  }

  /// The maximum number of prepared statements per connection. Arbitrary; more than most programs use.
  private static let maximumPrepared = 256

  /// - Parameter conninfo: A URL or a connection string in libpq's syntax.
  /// - Throws: ``StoreError/Code/cannotOpen``.
  init(_ conninfo: String, connectTimeout: Duration, keepsStatements: Bool?) throws(StoreError) {
    let seconds = "\(max(2, connectTimeout.components.seconds))"
    // The connection string is expanded last, so that its options take precedence.
    let options = [
      ("connect_timeout", seconds), ("fallback_application_name", "NanoStore"),
      ("dbname", conninfo), ("client_encoding", "UTF8"),
    ]
    handle = Self.connect(options)
    canceller = Canceller(PQgetCancel(handle))
    self.keepsStatements = keepsStatements ?? false
    guard PQstatus(handle) == CONNECTION_OK else {
      // The object is initialized at this point, so `deinit` closes the connection.
      throw Self.cannotConnect(String(cString: PQerrorMessage(handle)))
    }
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    _ = PQenterPipelineMode(handle)
  }

  deinit {
    PQfinish(handle)
  }

  private static func cannotConnect(_ message: String) -> StoreError {
    // The severity in the answer of a server, in most languages.
    guard message.contains("FATAL:") else {
      return StoreError(
        .cannotOpen, "The server cannot be reached",
        [.engineMessage: message, .hint: "check the host and the port, and whether it runs"])
    }
    return StoreError(
      .cannotOpen, "The server refuses the connection",
      [
        .engineMessage: message,
        .hint: "the engine's message has the reason, such as a wrong database, user or password",
      ])
  }

  private static func connect(_ options: [(String, String)]) -> OpaquePointer {
    let names = options.map { strdup($0.0) } + [nil]
    let values = options.map { strdup($0.1) } + [nil]
    defer { for text in names + values { free(text) } }
    let pointers = { (texts: [UnsafeMutablePointer<CChar>?]) in texts.map { UnsafePointer($0) } }
    return PQconnectdbParams(pointers(names), pointers(values), 1)
  }

  /// The server version as a number, such as 150018 for 15.18.
  var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// The process ID that the server reported when the connection was opened. A pooler reports a different
  /// number than the server itself.
  var claimedProcess: Int { Int(PQbackendPID(handle)) }

  /// Whether the connection is unusable.
  private(set) var isLost = false

  /// Whether a transaction is open; maintained by the session that opens and ends it.
  var hasTransaction = false
  /// The process ID of the server at the other end; `nil` behind a pooler.
  var serverProcess: Int?
  /// Whether the connection has served a call before.
  var wasUsed = false
}

extension PostgresConnection {
  /// Runs statements in one round trip and returns their results.
  ///
  /// - Throws: ``PostgresFailure`` of the first statement that failed. Those after it did not run.
  @discardableResult
  func run(
    _ statements: [PostgresStatement], _ interruption: Interruption? = nil
  ) throws -> [PostgresResult] {
    try interruptible(interruption) { try runNow(statements) }
  }

  /// Runs statements that the interruption cancels.
  func interruptible<Result>(
    _ interruption: Interruption?, _ work: () throws -> Result
  ) throws -> Result {
    try absorbLateCancel()
    guard let interruption else { return try work() }
    self.interruption = interruption
    // Checked when no further cancel request can be issued.
    defer {
      self.interruption = nil
      if interruption.isTriggered {
        canceller.wait()
        mayReceiveLateCancel = true
      }
    }
    return try interruption.whileRunning(stop: { [canceller] in canceller.begin() }, work)
  }

  /// Waits until the next result can be read without blocking.
  ///
  /// The server ignores a cancel request that arrives while it waits for a statement, even for one that is already
  /// sent (`ProcessInterrupts` in postgres.c). So the request is repeated until there is a result.
  func awaitResult() throws(PostgresFailure) {
    guard let interruption else { return }
    while PQisBusy(handle) == 1 {
      if interruption.isTriggered { canceller.cancel() }
      var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      // A signal only ends the wait early.
      _ = poll(&socket, 1, Self.cancelInterval)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
  }

  /// Milliseconds between two checks of a running statement's interruption. Arbitrary: barely perceptible, and rare
  /// enough for a statement that runs for hours.
  private static let cancelInterval: Int32 = 100

  @discardableResult
  func run(
    _ statement: PostgresStatement, _ interruption: Interruption? = nil
  ) throws -> PostgresResult {
    try run([statement], interruption)[0]
  }

  /// Returns whether the server has closed the connection, as far as this machine has been notified.
  func wasClosed() -> Bool {
    if PQconsumeInput(handle) != 1 || PQstatus(handle) != CONNECTION_OK { isLost = true }
    return isLost
  }

  /// Sends statements without waiting for their results; the next call reads those first.
  func send(_ statements: [PostgresStatement]) {
    guard !isLost else { return }
    do {
      for statement in statements { try enqueue(statement) }
      try end()
    } catch {
      isLost = true
    }
  }

  private func runNow(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
    // Before anything is sent: what the pipeline has received cannot be taken back.
    for statement in statements { try statement.requireSendable() }
    for statement in statements { try enqueue(statement) }
    try end()
    return try readAll()
  }

  /// Absorbs a late cancel request, which would otherwise cancel the next statement.
  private func absorbLateCancel() throws {
    guard mayReceiveLateCancel else { return }
    mayReceiveLateCancel = false
    do {
      _ = try runNow([.once("SELECT 1")])
    } catch let failure as PostgresFailure where !failure.isConnectionLoss {
      // The request canceled this statement, or left the transaction in the failed state, and it is about to
      // be rolled back.
    }
  }
}

// @unchecked: libpq documents PQcancel as safe from any thread; the pointer never changes.
/// Requests cancellation of the running statement, from any thread, by a separate connection.
private final class Canceller: @unchecked Sendable {
  private let pointer: OpaquePointer?
  /// The requests that were begun and have not been sent.
  private let requests = DispatchGroup()

  init(_ pointer: OpaquePointer?) { self.pointer = pointer }

  deinit { PQfreeCancel(pointer) }

  /// Sends a request on another thread, since the server may not be reachable: the calling thread must not block.
  func begin() {
    requests.enter()
    Thread.detachNewThread { [self] in
      cancel()
      requests.leave()
    }
  }

  /// Waits until the requests are sent.
  func wait() { requests.wait() }

  func cancel() {
    guard let pointer else { return }
    var message = [CChar](repeating: 0, count: 256)
    _ = PQcancel(pointer, &message, Int32(message.count))
  }
}

extension PostgresConnection {
  private func enqueue(_ statement: PostgresStatement) throws {
    guard keepsStatements, statement.isPrepared else { return try sendUnprepared(statement) }
    let name = try name(of: statement)
    try withValues(statement.values) { _, values, lengths, formats in
      PQsendQueryPrepared(
        handle, name, Int32(statement.values.count), values, lengths, formats, 1)
    }
  }

  private func sendUnprepared(_ statement: PostgresStatement) throws {
    try withValues(statement.values) { types, values, lengths, formats in
      PQsendQueryParams(
        handle, statement.text, Int32(statement.values.count), types, values, lengths, formats,
        statement.returnsText ? 0 : 1)
    }
  }

  /// Returns the name of a prepared statement. A new statement is prepared in the same pipeline.
  private func name(of statement: PostgresStatement) throws -> String {
    let text = ExactName(statement.text)
    if let name = prepared[text] { return name }
    if prepared.count >= Self.maximumPrepared {
      // Deallocates all of them: those in use are soon prepared again.
      prepared.removeAll()
      guard PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1 else {
        throw lost()
      }
      expected.append(.maintenance)
    }
    lastName += 1
    let name = "nano_\(lastName)"
    let types = statement.values.map(\.typeID)
    guard PQsendPrepare(handle, name, statement.text, Int32(types.count), types) == 1 else {
      throw lost()
    }
    prepared[text] = name
    expected.append(.preparation(of: text))
    return name
  }

  /// Passes values in libpq's form: types, pointers, lengths and formats.
  private func withValues(
    _ values: [PostgresValue],
    _ send: (
      [UInt32], [UnsafePointer<CChar>?], [Int32], [Int32]
    ) -> Int32
  ) throws {
    buffer.removeAll(keepingCapacity: true)
    var starts: [Int] = []
    var lengths: [Int32] = []
    for value in values {
      starts.append(buffer.count)
      value.append(to: &buffer)
      lengths.append(Int32(buffer.count - starts[starts.count - 1]))
      // Values in text format are NUL-terminated.
      buffer.append(0)
    }
    let sent = buffer.withUnsafeBytes { bytes in
      let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let pointers = zip(values, starts).map { value, start -> UnsafePointer<CChar>? in
        value == .null ? nil : base.map { $0 + start }
      }
      return send(values.map(\.typeID), pointers, lengths, values.map { $0.isBinary ? 1 : 0 })
    }
    guard sent == 1 else { throw lost() }
    expected.append(.statement)
  }

  private func end() throws {
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    expected.append(.end)
  }

  /// Reads all pending results and returns those of the last pipeline.
  private func readAll() throws -> [PostgresResult] {
    var results: [PostgresResult] = []
    var failure: PostgresFailure?
    let expected = self.expected
    self.expected.removeAll(keepingCapacity: true)
    for (index, expectation) in expected.enumerated() {
      if case .end = expectation {
        try readEnd()
        // Nothing waits for the results of an earlier pipeline, or for its failure.
        if index < expected.count - 1 { (results, failure) = ([], nil) }
        continue
      }
      let (result, found) = try readResult()
      if let found {
        failure = failure ?? found
        if case .preparation(let text) = expectation { prepared[text] = nil }
        continue
      }
      switch expectation {
      case .statement: if let result { results.append(result) }
      // Skipped after a failure.
      case .preparation(let text): if result == nil { prepared[text] = nil }
      case .maintenance, .end: break
      }
    }
    if let failure {
      // A statement of the program, such as `DEALLOCATE ALL`, has removed the prepared ones.
      if failure.state == PostgresFailure.missingStatement { prepared.removeAll() }
      throw failure
    }
    return results
  }

  /// Returns the result of one statement, or `nil` for one that was skipped after a failure.
  private func readResult() throws -> (PostgresResult?, PostgresFailure?) {
    try awaitResult()
    guard let first = PQgetResult(handle) else { throw lost() }
    let result = PostgresResult(first)
    var failure: PostgresFailure?
    switch PQresultStatus(first) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK: break
    case PGRES_PIPELINE_ABORTED:
      drain()
      return (nil, nil)
    case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
      // libpq returns this result until all rows are transferred, which is not possible in a pipeline.
      isLost = true
      throw PostgresFailure(state: "0A000", message: "COPY is not possible in pipeline mode")
    default: failure = PostgresFailure(first)
    }
    drain()
    if PQstatus(handle) != CONNECTION_OK {
      isLost = true
      throw failure ?? lost()
    }
    return (result, failure)
  }

  private func readEnd() throws {
    guard let result = PQgetResult(handle) else { throw lost() }
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else {
      isLost = true
      throw PostgresFailure(result)
    }
  }

  /// Reads up to the null that terminates a statement's results.
  func drain() { while let rest = PQgetResult(handle) { PQclear(rest) } }

  func lost() -> PostgresFailure {
    isLost = true
    return PostgresFailure(state: "", message: String(cString: PQerrorMessage(handle)))
  }
}
