// SPDX-License-Identifier: MIT

import CLibPQ
import NanoDocument
import NanoEngine

extension PostgresConnection {
  /// Sends rows in the binary format of COPY, the fastest way to load a table.
  ///
  /// - Parameters:
  ///   - statement: `COPY … FROM STDIN (FORMAT binary)`.
  ///   - rows: All rows, encoded by ``CopyBuffer``.
  /// - Throws: ``PostgresFailure``. An open transaction is then in the failed state.
  ///   ``StoreError/Code/interrupted`` before anything is sent.
  func copyIn(
    _ statement: String, _ rows: borrowing CopyBuffer, _ interruption: Interruption? = nil
  ) throws {
    // COPY is not possible in pipeline mode. Pending results must be read first.
    try run([])
    guard PQexitPipelineMode(handle) == 1 else { throw lost() }
    defer { _ = PQenterPipelineMode(handle) }
    try interruptible(interruption) { try copyNow(statement, rows) }
  }

  private func copyNow(_ statement: String, _ rows: borrowing CopyBuffer) throws {
    guard PQsendQuery(handle, statement) == 1 else { throw lost() }
    try awaitResult()
    try start(PQgetResult(handle))
    rows.bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = rest.prefix(Self.maximumChunkSize)
        let base = UnsafeRawBufferPointer(rebasing: part).baseAddress
        _ = PQputCopyData(
          handle, base?.assumingMemoryBound(to: CChar.self), Int32(part.count))
        rest = rest.dropFirst(part.count)
      }
    }
    _ = PQputCopyEnd(handle, nil)
    var failure: PostgresFailure?
    try awaitResult()
    while let result = PQgetResult(handle) {
      if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? PostgresFailure(result) }
      PQclear(result)
    }
    if PQstatus(handle) != CONNECTION_OK { throw lost() }
    if let failure { throw failure }
  }

  private func start(_ result: OpaquePointer?) throws {
    guard let result else { throw lost() }
    defer { PQclear(result) }
    if PQstatus(handle) != CONNECTION_OK { throw lost() }
    guard PQresultStatus(result) == PGRES_COPY_IN else {
      drain()
      throw PostgresFailure(result)
    }
  }

  private static let maximumChunkSize = 1 << 20
}

/// Rows in the binary format of COPY.
///
/// Source: https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format".
struct CopyBuffer: ~Copyable {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) {
    bytes.reserveCapacity(capacity)
    bytes.append(contentsOf: [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00])
    PostgresValue.append(Int32(0), to: &bytes)
    PostgresValue.append(Int32(0), to: &bytes)
  }

  mutating func beginRow(columns: Int) { PostgresValue.append(Int16(columns), to: &bytes) }

  mutating func add(_ value: PostgresValue) {
    guard value != .null else { return PostgresValue.append(Int32(-1), to: &bytes) }
    let start = bytes.count
    PostgresValue.append(Int32(0), to: &bytes)
    value.append(to: &bytes)
    setLength(from: start)
  }

  mutating func add(_ number: Int64?) {
    guard let number else { return PostgresValue.append(Int32(-1), to: &bytes) }
    PostgresValue.append(Int32(8), to: &bytes)
    PostgresValue.append(number, to: &bytes)
  }

  mutating func add(utf8 text: UnsafeRawBufferPointer) {
    PostgresValue.append(Int32(text.count), to: &bytes)
    bytes.append(contentsOf: text)
  }

  mutating func add(json text: UnsafeRawBufferPointer) {
    PostgresValue.append(Int32(text.count + 1), to: &bytes)
    PostgresValue.appendJSON(text, to: &bytes)
  }

  /// Appends the trailer after the last row.
  mutating func end() { PostgresValue.append(Int16(-1), to: &bytes) }

  private mutating func setLength(from start: Int) {
    let length = Int32(bytes.count - start - 4)
    withUnsafeBytes(of: length.bigEndian) { length in
      for index in 0..<4 { bytes[start + index] = length[index] }
    }
  }
}
