// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import NanoTesting

// The writes of a random schedule.
extension NetworkSchedule {
  private mutating func key() -> String { "k\(random.number(0...4))" }

  /// Notes the revision of an acknowledged write now and then. Otherwise, several writes are one revision.
  private mutating func observe(_ key: String, _ replica: TrialReplica) throws {
    guard random.oneIn(3) else { return }
    if let revision = try replica.database.revisions([key])[key]?.tree.winner?.id {
      ledger.note(revision, of: key)
    }
  }

  /// Adds a field of its own and one to the counter.
  mutating func write(_ index: Int) throws {
    let (key, replica, field) = (key(), replicas[index], ledger.nextField())
    ledger.add("write \(index) \(key) \(field)")
    try write(field, to: key, on: replica)
    ledger.note(field, of: key)
    try observe(key, replica)
  }

  private func write(_ field: String, to key: String, on replica: TrialReplica) throws {
    let films = replica.films
    try replica.store.write {
      if let document = try films.get(key) {
        try films.update(
          key,
          set: [
            FieldPath(field): true, "n": .int((document["n"]?.int64 ?? 0) + 1),
            "last": .string(field),
          ])
      } else {
        try films.save([field: true, "n": 1, "last": .string(field)], key: key)
      }
    }
  }

  /// Adds one to the counter and changes nothing else, as another replica may do at the same time.
  mutating func count(_ index: Int) throws {
    let (key, replica) = (key(), replicas[index])
    guard let n = try replica.films.get(key)?["n"]?.int64 else { return }
    ledger.add("count \(index) \(key)")
    try replica.films.update(key, set: ["n": .int(n + 1)])
    ledger.noteIncrement(of: key)
    try observe(key, replica)
  }

  /// Writes more documents than a batch has, in one transaction.
  mutating func writeMany(_ index: Int) throws {
    let replica = replicas[index]
    let keys = (0..<random.number(10...30)).map { "b\($0)" }
    let fields = keys.map { _ in ledger.nextField() }
    ledger.add("write \(index) b0 to b\(keys.count - 1) \(fields[0])")
    try replica.store.write {
      for (key, field) in zip(keys, fields) { try write(field, to: key, on: replica) }
    }
    for (key, field) in zip(keys, fields) { ledger.note(field, of: key) }
  }

  /// Deletes a document, inserts it, or both in one transaction.
  mutating func deleteOrRecreate(_ index: Int) throws {
    let (key, replica, field) = ("d\(random.number(0...2))", replicas[index], ledger.nextField())
    let choice = random.number(0...4)
    ledger.add("delete or insert \(index) \(key) \(choice)")
    switch choice {
    case 0: _ = try replica.films.delete(key)
    case 1:
      try replica.store.write {
        _ = try replica.films.delete(key)
        try replica.films.save([field: true], key: key)
      }
    case 2:
      try replica.store.write {
        try replica.films.save([field: true], key: key)
        _ = try replica.films.delete(key)
      }
    case 3:
      guard let foreign = replica.foreign else { return }
      try foreign.write { _ = try foreign.sql("DELETE FROM films WHERE key = ?", key) }
    default: try replica.films.save([field: true], key: key)
    }
    try observe(key, replica)
  }

  mutating func writeBySQL(_ index: Int) throws {
    let replica = replicas[index]
    guard let foreign = replica.foreign else { return try write(index) }
    let (key, field) = (key(), ledger.nextField())
    ledger.add("sql \(index) \(key) \(field)")
    try foreign.write {
      _ = try foreign.sql(
        """
        UPDATE films SET body = \
        json_set(body, '$.' || ?, json('true'), '$.n', coalesce(json_extract(body, '$.n'), 0) + 1) WHERE key = ?
        """, field, key)
      _ = try foreign.sql(
        """
        INSERT INTO films(key, body) SELECT ?, json_object(?, json('true'), 'n', 1) \
        WHERE NOT EXISTS (SELECT 1 FROM films WHERE key = ?)
        """, key, field, key)
    }
    ledger.note(field, of: key)
    try observe(key, replica)
  }

  /// Attaches content that fits into the document's request, or needs one of its own.
  mutating func attach(_ index: Int) throws {
    let (key, replica) = (key(), replicas[index])
    guard try replica.films.get(key) != nil else { return }
    let byte = UInt8(random.number(0...3))
    let length = random.pick([100, 5_000, 5_000, 100_000, 1_200_000])
    ledger.add("attach \(index) \(key) \(byte) \(length)")
    try replica.films.attach(
      .data(Data(repeating: byte, count: length)), named: "a\(byte)", to: key)
    try observe(key, replica)
  }

  /// Inserts a document that expires: by its field where there is a rule, elsewhere by a call.
  mutating func insertExpiring(_ index: Int) throws {
    let replica = replicas[index]
    expiring += 1
    let (key, days) = ("e\(expiring)", Double(random.number(-2...20)))
    ledger.add("expire \(index) \(key) \(days)")
    let until = Date(timeIntervalSince1970: Double(replica.clock.now()) / 1e6)
      .addingTimeInterval(days * 86_400)
    try replica.films.save(["until": .date(until), "title": .string(key)], key: key)
    if !replica.hasRule { try replica.films.setExpiration(until, of: key) }
    ledger.note(expiring: key, on: index)
  }

  /// Sets the clock of a replica forward or back. Revisions do not depend on it; documents expire by it.
  mutating func jump(_ index: Int) throws {
    let days = random.number(-10...10)
    ledger.add("clock \(index) \(days) days")
    replicas[index].clock.advance(by: .seconds(days * 86_400))
    if Bool.random(using: &random) { _ = try replicas[index].store.deleteExpired() }
  }
}
