// SPDX-License-Identifier: MIT

import NIOCore
import NanoDocument
package import NanoSync
import Synchronization

extension HTTPPeer {
  /// How often a peer shows that it is alive while there are no changes, in milliseconds. As PouchDB asks for.
  private static let heartbeat = 10_000
  /// The longest row of changes: a document with some hundred thousand conflicts.
  private static let maximumRow = 16 << 20
  /// How many rows beyond those asked for are read until one has a position. Arbitrary.
  private static let maximumExcess = 10_000

  package func changes(
    since: String?, limit: Int, filter: PeerFilter, waits: Bool
  ) async throws -> PeerChanges {
    // CouchDB counts 0 as 1.
    let limit = max(limit, 1)
    var query = [("style", "all_docs"), ("since", since ?? "0"), ("limit", "\(limit)")]
    if waits { query += [("feed", "longpoll"), ("heartbeat", "\(Self.heartbeat)")] }
    let call: HTTPCall
    switch filter {
    case .all: call = HTTPCall(.GET, url.text("_changes", query))
    case .ids(let ids):
      call = HTTPCall(
        .POST, url.text("_changes", query + [("filter", "_doc_ids")]),
        .json(["doc_ids": .array(ids.map { .string($0) })]))
    case .selector(let selector):
      call = HTTPCall(
        .POST, url.text("_changes", query + [("filter", "_selector")]),
        .json(["selector": .object(Selector.plain(selector))]))
    }
    let waiting = waits ? connector.limits.waiting : nil
    do {
      return try await connector.send(call) { answer in
        if answer.status == 404, filter == .all { throw await Self.noDatabase(answer) }
        guard answer.status == 200 else { throw try await answer.failure() }
        answer.watch.end(after: waiting)
        return try await Self.read(answer, since: since, limit: limit)
      }
    } catch is ProgressWatch.Ended {
      return PeerChanges(changes: [], last: since ?? "0", pending: 0, hasMore: false)
    }
  }

  /// Reads rows as they arrive, and at most as many as were asked for: some peers send all that they have.
  private static func read(
    _ answer: HTTPAnswer, since: String?, limit: Int
  ) async throws -> PeerChanges {
    var splitter = JSONSplitter(field: "results", maximumElement: maximumRow)
    var changes: [PeerChange] = []
    var last: String?
    var isCut = false
    try await answer.each { piece in
      try splitter.read(piece) { row in
        guard changes.count < limit || last == nil else {
          isCut = true
          return false
        }
        guard changes.count - limit < Self.maximumExcess else { throw answer.invalid() }
        let (change, sequence) = try Self.row(row)
        changes.append(change)
        // A row without a position comes again after the last one that has one.
        last = sequence ?? last
        answer.watch.end(after: nil)
        return true
      }
    }
    if isCut, let last {
      guard !last.hasSameBytes(as: since ?? "0") else { throw answer.invalid() }
      return PeerChanges(changes: changes, last: last, hasMore: true)
    }
    try splitter.finish()
    guard let shell = try? DocumentObject(json: splitter.shell, dialect: .plain) else {
      throw answer.invalid()
    }
    // Clamped because a status adds it up with other numbers, and a peer can send any.
    let pending = shell["pending"]?.int64.map { Int(min(max($0, 0), Int64(Int32.max))) }
    guard
      let end = shell["last_seq"].flatMap({ sequence($0) }) ?? last
        ?? (changes.isEmpty ? since ?? "0" : nil)
    else { throw answer.invalid() }
    var hasMore = pending.map { $0 > 0 } ?? (changes.count >= limit)
    if hasMore, end.hasSameBytes(as: since ?? "0") {
      // The next answer would be the same, and so on. Without changes, only the number after them is wrong.
      guard changes.isEmpty else { throw answer.invalid() }
      hasMore = false
    }
    return PeerChanges(changes: changes, last: end, pending: pending, hasMore: hasMore)
  }

  private static func row(_ json: [UInt8]) throws -> (PeerChange, sequence: String?) {
    guard let row = try? DocumentObject(json: json, dialect: .plain), let id = row["id"]?.string,
      let leaves = row["changes"]?.array
    else { throw malformedRow }
    let revisions = try leaves.map { leaf in
      guard let revision = leaf.object?["rev"]?.string.flatMap({ RevisionID($0) }) else {
        throw malformedRow
      }
      return revision
    }
    return (PeerChange(id: id, revisions: revisions), row["seq"].flatMap { sequence($0) })
  }

  private static var malformedRow: PeerError {
    PeerError(.invalidAnswer, "The peer's list of changes has an entry that is not one")
  }
}
