// SPDX-License-Identifier: MIT

import CLibPQ
import Foundation
import NanoDocument
import NanoEngine

/// One connection to a server, in libpq's pipeline mode: statements are sent together, and their results
/// come back together, in one round trip.
///
/// Statements between two ends of a pipeline are one transaction, unless they say BEGIN.
/// Source: https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
///
/// Confined to whoever has taken it from the pool.
final class PostgresConnection {
  let handle: OpaquePointer
  private let canceller: OpaquePointer?
  /// Whether statements stay prepared, which they do not where a pooler stands between.
  private let keepsStatements: Bool
  /// The names of prepared statements by their text.
  private var prepared: [ExactName: String] = [:]
  private var lastName = 0
  /// What was sent and whose results nobody has read, in order.
  private var expected: [Expectation] = []
  /// Whether a request to cancel was sent that may reach the server after its statement.
  private var mayBeCancelledLate = false
  private var buffer: [UInt8] = []

  private enum Expectation {
    case statement
    case preparation(of: ExactName)
    /// A statement of this connection's own.
    case upkeep
    case end
  }

  /// Statements that stay prepared on one connection. Arbitrary; more than most programs have.
  private static let maximumPrepared = 256

  /// - Parameter conninfo: A URL or a connection string, as libpq takes it.
  /// - Throws: ``StoreError/Code/cannotOpen``.
  init(_ conninfo: String, connectTimeout: Duration, keepsStatements: Bool?) throws(StoreError) {
    let seconds = "\(max(2, connectTimeout.components.seconds))"
    // What the string says itself counts more: it is expanded last.
    let options = [
      ("connect_timeout", seconds), ("fallback_application_name", "NanoStore"),
      ("dbname", conninfo), ("client_encoding", "UTF8"),
    ]
    handle = Self.connect(options)
    canceller = PQgetCancel(handle)
    self.keepsStatements = keepsStatements ?? false
    guard PQstatus(handle) == CONNECTION_OK else {
      // The object is whole from here on, so that it closes the connection as it goes.
      throw StoreError(
        .cannotOpen, "The server cannot be reached",
        [.engineMessage: String(cString: PQerrorMessage(handle))])
    }
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    _ = PQenterPipelineMode(handle)
  }

  deinit {
    PQfreeCancel(canceller)
    PQfinish(handle)
  }

  private static func connect(_ options: [(String, String)]) -> OpaquePointer {
    let names = options.map { strdup($0.0) } + [nil]
    let values = options.map { strdup($0.1) } + [nil]
    defer { for text in names + values { free(text) } }
    let pointers = { (texts: [UnsafeMutablePointer<CChar>?]) in texts.map { UnsafePointer($0) } }
    return PQconnectdbParams(pointers(names), pointers(values), 1)
  }

  /// A number such as 150018 for 15.18.
  var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// The process of the server that answers, as it said when the connection was opened. A pooler says
  /// something else than the server itself does.
  var claimedProcess: Int { Int(PQbackendPID(handle)) }

  /// Whether the connection is of no use any more.
  private(set) var isLost = false

  /// Whether a transaction was begun and not ended; kept by whoever does so.
  var hasTransaction = false
  /// The process of the server at the other end; nil behind a pooler.
  var serverProcess: Int?
  /// Whether it served a call before.
  var wasUsed = false
}

extension PostgresConnection {
  /// Runs statements in one round trip and gives the result of each.
  ///
  /// - Throws: ``PostgresFailure`` of the first one that failed; those behind it did not run.
  @discardableResult
  func run(
    _ statements: [PostgresStatement], _ interruption: Interruption? = nil
  ) throws -> [PostgresResult] {
    try settle()
    guard let interruption else { return try runNow(statements) }
    // Looked at when nobody can ask for a stop any more.
    defer { if interruption.isTriggered { mayBeCancelledLate = true } }
    return try interruption.whileRunning(stop: stopper()) { try runNow(statements) }
  }

  @discardableResult
  func run(
    _ statement: PostgresStatement, _ interruption: Interruption? = nil
  ) throws -> PostgresResult {
    try run([statement], interruption)[0]
  }

  /// Whether the server has ended the connection, as far as this machine has been told.
  func wasClosed() -> Bool {
    if PQconsumeInput(handle) != 1 || PQstatus(handle) != CONNECTION_OK { isLost = true }
    return isLost
  }

  /// Sends statements whose results nobody waits for; the next call reads them first.
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
    for statement in statements { try enqueue(statement) }
    try end()
    return try readAll()
  }

  /// What stops the statement that runs, from any thread: it opens a connection of its own.
  private func stopper() -> @Sendable () -> Void {
    let canceller = Canceller(canceller)
    return { canceller.cancel() }
  }

  /// A request to cancel that came late would hit the next statement.
  private func settle() throws {
    guard mayBeCancelledLate else { return }
    mayBeCancelledLate = false
    do {
      _ = try runNow([.once("SELECT 1")])
    } catch let failure as PostgresFailure where !failure.isConnectionLoss {
      // Hit by the request, or of a transaction that the request has spoilt and that is about to be undone.
    }
  }
}

// @unchecked: libpq documents PQcancel as safe from any thread; the pointer is never changed.
/// What asks the server to stop a statement. The object outlives no connection: an interruption lets go of
/// it before the call that uses the connection returns.
private final class Canceller: @unchecked Sendable {
  private let pointer: OpaquePointer?
  init(_ pointer: OpaquePointer?) { self.pointer = pointer }

  func cancel() {
    guard let pointer else { return }
    var message = [CChar](repeating: 0, count: 256)
    _ = PQcancel(pointer, &message, Int32(message.count))
  }
}

extension PostgresConnection {
  private func enqueue(_ statement: PostgresStatement) throws {
    guard keepsStatements, statement.isKept else { return try sendUnprepared(statement) }
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
        statement.givesText ? 0 : 1)
    }
  }

  /// The name of a statement, which is prepared in the same pipeline if it is new.
  private func name(of statement: PostgresStatement) throws -> String {
    let text = ExactName(statement.text)
    if let name = prepared[text] { return name }
    if prepared.count >= Self.maximumPrepared {
      // All at once: what is in use is soon prepared again.
      prepared.removeAll()
      guard PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1 else {
        throw lost()
      }
      expected.append(.upkeep)
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

  /// Passes values as libpq takes them: types, pointers, lengths and formats.
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
      // Values in text form end there.
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

  /// Reads the results of everything that was sent, and gives those of the last pipeline.
  private func readAll() throws -> [PostgresResult] {
    var results: [PostgresResult] = []
    var failure: PostgresFailure?
    let expected = self.expected
    self.expected.removeAll(keepingCapacity: true)
    for (index, expectation) in expected.enumerated() {
      if case .end = expectation {
        try readEnd()
        // What nobody waited for has no one to tell.
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
      // Behind a failure it was passed over.
      case .preparation(let text): if result == nil { prepared[text] = nil }
      case .upkeep, .end: break
      }
    }
    if let failure { throw failure }
    return results
  }

  /// The result of one statement; nil for one behind a failure, which did not run.
  private func readResult() throws -> (PostgresResult?, PostgresFailure?) {
    guard let first = PQgetResult(handle) else { throw lost() }
    let result = PostgresResult(first)
    var failure: PostgresFailure?
    switch PQresultStatus(first) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK: break
    case PGRES_PIPELINE_ABORTED:
      drain()
      return (nil, nil)
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

  /// Up to the null behind the results of a statement.
  private func drain() { while let rest = PQgetResult(handle) { PQclear(rest) } }

  func lost() -> PostgresFailure {
    isLost = true
    return PostgresFailure(state: "", message: String(cString: PQerrorMessage(handle)))
  }
}
