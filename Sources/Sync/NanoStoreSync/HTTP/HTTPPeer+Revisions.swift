// SPDX-License-Identifier: MIT

import NIOCore
import NanoDocument
package import NanoSync
import Synchronization

extension HTTPPeer {
  package func revisions(_ wanted: [WantedRevision]) async throws -> [FetchedRevision] {
    // For bases, a newer revision is of no use.
    var fetched = try await singly(wanted.filter(\.isBase))
    var rest = wanted.filter { !$0.isBase }
    guard !rest.isEmpty else { return fetched }
    if !lacks(.bulkGet), let answered = try await bulk(rest) {
      fetched += answered.fetched
      rest = answered.rest
    }
    return fetched + (try await singly(rest))
  }

  // MARK: Many at once

  /// Fetches revisions with one request, and returns those that the answer does not have as the rest; nil if the peer
  /// lacks the request.
  private func bulk(
    _ wanted: [WantedRevision]
  ) async throws -> (fetched: [FetchedRevision], rest: [WantedRevision])? {
    let body: DocumentObject = [
      "docs": .array(
        wanted.map { wanted in
          var row: DocumentObject = [
            "id": .string(wanted.id), "rev": .string("\(wanted.revision)"),
          ]
          if !wanted.ancestors.isEmpty {
            row["atts_since"] = .array(wanted.ancestors.map { .string("\($0)") })
          }
          return .object(row)
        })
    ]
    // With the encoding, the digest of an attachment can be interpreted.
    let query = [("revs", "true"), ("latest", "true"), ("att_encoding_info", "true")]
    return try await connector.send(
      HTTPCall(.POST, url.text("_bulk_get", query), .json(body))
    ) { answer in
      guard answer.status == 200 else {
        let failure = try await answer.failure()
        switch failure.kind {
        case .unauthorized, .forbidden, .noDatabase: throw failure
        // A peer that fails at this one request is not overloaded.
        case .unavailable where answer.status != 500: throw failure
        default:
          self.note(lackOf: .bulkGet)
          return nil
        }
      }
      var answers = BulkAnswers(wanted)
      var splitter = JSONSplitter(field: "results")
      do {
        try await answer.each { piece in
          try splitter.read(piece) { row in
            answers.add(row)
            return true
          }
        }
        try splitter.finish()
      } catch let error as PeerError where error.kind == .invalidAnswer {
        // What follows a malformed row is asked for again.
      }
      if answers.fetched.isEmpty { self.note(lackOf: .bulkGet) }
      return (answers.fetched, answers.rest)
    }
  }

  // MARK: One document at a time

  /// CouchDB's replicator keeps URLs below this length.
  private static let maximumURL = 7_000
  /// The number of requests at a time. Arbitrary: as many as browsers make.
  private static let concurrentRequests = 6

  private func singly(_ wanted: [WantedRevision]) async throws -> [FetchedRevision] {
    let calls = calls(wanted)
    guard !calls.isEmpty else { return [] }
    return try await withThrowingTaskGroup(of: [FetchedRevision].self) { group in
      var rest = calls[...]
      var fetched: [FetchedRevision] = []
      for _ in 0..<Self.concurrentRequests {
        if let call = rest.popFirst() { group.addTask { try await self.single(call) } }
      }
      while let answered = try await group.next() {
        fetched += answered
        if let call = rest.popFirst() { group.addTask { try await self.single(call) } }
      }
      return fetched
    }
  }

  private struct SingleCall: Sendable {
    var id: String
    var wanted: [WantedRevision]
    var url: String
  }

  /// Puts revisions of the same document together, as far as the length of the URL allows.
  private func calls(_ wanted: [WantedRevision]) -> [SingleCall] {
    var byID = IDMap<[WantedRevision]>()
    for wanted in wanted { byID[wanted.id, default: []].append(wanted) }
    var calls: [SingleCall] = []
    for (id, wanted) in byID {
      var rest = wanted[...]
      while !rest.isEmpty {
        var call = SingleCall(id: id, wanted: [], url: "")
        while let next = rest.first {
          let longer = url(id, call.wanted + [next])
          guard call.wanted.isEmpty || longer.utf8.count < Self.maximumURL else { break }
          call.url = longer
          call.wanted.append(rest.removeFirst())
        }
        calls.append(call)
      }
    }
    return calls
  }

  private func url(_ id: String, _ wanted: [WantedRevision]) -> String {
    let revisions = DocumentValue.array(wanted.map { .string("\($0.revision)") })
    var query = [
      ("revs", "true"), ("att_encoding_info", "true"),
      ("open_revs", String(decoding: SyncJSON.bytes(revisions), as: UTF8.self)),
    ]
    if wanted.contains(where: { !$0.isBase }) { query.insert(("latest", "true"), at: 1) }
    return url.text(PeerURL.document(id), query)
  }

  private func single(_ call: SingleCall) async throws -> [FetchedRevision] {
    try await connector.send(HTTPCall(.GET, call.url)) { answer in
      guard answer.status == 200 else {
        let failure = try await answer.failure()
        if failure.status == 404, failure.kind != .noDatabase {
          return call.wanted.map { .missing(id: call.id, $0.revision) }
        }
        // A URL that is too long for a proxy, a document that the peer cannot read.
        guard failure.kind == .refused || failure.kind == .tooLarge else { throw failure }
        return call.wanted.map { .invalid(id: call.id, $0.revision, failure) }
      }
      var answers = SingleAnswers(call.id, call.wanted)
      var splitter = JSONSplitter(field: nil)
      do {
        try await answer.each { piece in
          try splitter.read(piece) { row in
            answers.add(row)
            return true
          }
        }
        try splitter.finish()
      } catch let error as PeerError where error.kind == .invalidAnswer {
        return answers.finished(error)
      }
      return answers.finished(answer.invalid())
    }
  }
}
