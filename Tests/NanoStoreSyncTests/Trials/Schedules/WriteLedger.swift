// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

/// What was acknowledged in a schedule, and must be there in the end.
struct WriteLedger: Sendable {
  /// The number of increments of documents that nothing deletes.
  private(set) var increments: [String: Int64] = [:]
  /// The fields that were written to them, each only once.
  private(set) var fields: [String: Set<String>] = [:]
  /// Revisions that acknowledged writes got.
  private(set) var revisions: [String: Set<RevisionID>] = [:]
  /// The replicas on which documents expire in the end.
  private(set) var expired: [String: Int] = [:]
  private(set) var log: [String] = []
  private var lastField = 0

  mutating func nextField() -> String {
    lastField += 1
    return "w\(lastField)"
  }

  mutating func note(_ field: String, of key: String) {
    fields[key, default: []].insert(field)
    noteIncrement(of: key)
  }

  mutating func noteIncrement(of key: String) { increments[key, default: 0] += 1 }

  mutating func note(_ revision: RevisionID, of key: String) {
    revisions[key, default: []].insert(revision)
  }

  mutating func note(expiring key: String, on index: Int) { expired[key] = index }
  mutating func forgetExpirations(by index: Int) { expired = expired.filter { $0.value != index } }
  mutating func add(_ line: String) { log.append(line) }

  /// Checks a replica after everything was transferred.
  func check(_ replica: TrialReplica, _ name: String) throws {
    for (key, names) in fields {
      let object = try #require(
        try replica.films.get(key)?.object(), "\(key) is lost on \(name): \(log)")
      #expect(
        names.subtracting(object.names).isEmpty, "Fields of \(key) are lost on \(name): \(log)")
      #expect(
        object["n"] == .int(increments[key] ?? 0), "The counter of \(key) on \(name): \(log)")
    }
    for key in expired.keys {
      #expect(try replica.films.get(key) == nil, "\(key) has expired, but \(name) has it: \(log)")
    }
    for (key, acknowledged) in revisions {
      let tree = try replica.database.revisions([key])[key]?.tree
      let lost = acknowledged.filter { tree?.contains($0) != true }
      #expect(lost.isEmpty, "Revisions of \(key) are missing on \(name): \(lost), \(log)")
    }
    for document in try replica.films.find().fetch() {
      for named in try replica.films.attachments(of: document.key ?? "").all() {
        let data = try replica.store.data(of: named.attachment)
        #expect(
          Set(data).count == 1 && data.count == Int(named.attachment.length),
          "\(named.name) of \(document.key ?? "") on \(name): \(log)")
      }
    }
    #expect(try replica.store.verify().isEmpty, "\(log)")
  }
}
