// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineReader {
  /// Returns a copy of a kept body, or nil if none is kept.
  fileprivate func kept(_ rowID: Int64, in collection: String = "c") throws -> Snapshot? {
    var found: Snapshot?
    let isKept = try previousBody(ofRow: rowID, in: collection) { found = Snapshot($0) }
    try expectEqual(isKept, found != nil, "whether a body is kept")
    return found
  }

  /// Returns copies of all kept bodies, page by page.
  fileprivate func allKept(limit: Int, in collection: String = "c") throws -> [Snapshot] {
    var all: [Snapshot] = []
    var count: Int
    repeat {
      count = all.count
      try previousBodies(after: all.last?.rowID, limit: limit, in: collection) {
        all.append(Snapshot($0))
      }
    } while all.count > count
    return all
  }
}

extension Probe {
  fileprivate func keep(_ keeps: Bool = true, of collection: String = "c") throws {
    try write { try $0.setKeepsPreviousBodies(keeps, of: collection) }
  }

  fileprivate func replace(_ rowID: Int64, _ document: GeneratedDocument) throws {
    _ = try write { writer in
      try document.new { try writer.replace(.rowID(rowID), with: $0, in: "c") }
    }
  }

  fileprivate func kept(_ rowID: Int64) throws -> Snapshot? { try read { try $0.kept(rowID) } }
  fileprivate func stored(_ rowID: Int64) throws -> Snapshot? {
    try read { try $0.document(.rowID(rowID)) }
  }
}

extension EngineConformance {
  static let previousBodies: [Check] = [
    Check("Without keeping previous bodies there are none") { probe in
      let id = try probe.insert(["n": 0], key: "a")
      _ = try probe.write { try $0.save(["n": 1], key: "a") }
      try expectEqual(
        try probe.read { try $0.keepsPreviousBodies(in: "c") }, false, "whether they are kept")
      try expectEqual(
        try probe.read { try $0.keepsPreviousBodies(in: "other") }, false, "in no collection")
      try expectEqual(try probe.kept(id), nil, "the body")
      try expectEqual(try probe.read { try $0.allKept(limit: 5) }, [], "all bodies")
      try probe.keep(false)
      try probe.write { try $0.removePreviousBodies(ofRows: [id], in: "c") }
      guard !probe.has(.changeTracking) else { return }
      try expectError(.unsupported, "keeping them") { try probe.keep() }
    },
    Check("The document before its first update is kept until it is removed, then the next one") {
      probe in
      guard probe.has(.changeTracking) else { return }
      let (old, other) = (try probe.insert(["n": 0], key: "old"), try probe.insert(["n": 0]))
      _ = try probe.write { try $0.save(["n": 1], key: "old") }
      try probe.keep()
      try probe.keep()
      try expectEqual(
        try probe.read { try $0.keepsPreviousBodies(in: "C") }, true, "whether they are kept")
      try expectEqual(try probe.kept(old), nil, "a body from before")
      let first = try probe.stored(old)
      for number in 2...4 as ClosedRange<Int64> {
        _ = try probe.write { try $0.save(["n": .int(number)], key: "old") }
        try expectEqual(try probe.kept(old), first, "the body before the first update")
      }
      try expectEqual(first?.revision, 2, "its revision")
      try expectEqual(try probe.kept(other), nil, "the body of a document that was not updated")
      if probe.has(.durable) { try probe.reopen() }
      try expectEqual(try probe.kept(old), first, "the body")
      let next = try probe.stored(old)
      try probe.write { try $0.removePreviousBodies(ofRows: [old, other, 99], in: "c") }
      try expectEqual(try probe.kept(old), nil, "the removed body")
      try probe.replace(old, GeneratedDocument(["n": 5]))
      try expectEqual(try probe.kept(old), next, "the next body")
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
    Check("A change of class, version or many documents at once keeps what they were") { probe in
      guard probe.has(.changeTracking) else { return }
      try probe.keep()
      let document = GeneratedDocument(
        ["n": 1, "text": "ü\u{1F3AC}"], key: try DocumentKey("k"), type: "Film", version: 3,
        added: 77)
      let id = try probe.write { writer in
        try document.new { try writer.insert($0, into: "c") }
      }
      let first = try probe.stored(id)
      var changed = document
      changed.version = 4
      try probe.replace(id, changed)
      try expectEqual(try probe.kept(id), first, "the body before the version")
      try probe.write { try $0.removePreviousBodies(ofRows: [id], in: "c") }
      let second = try probe.stored(id)
      changed.type = nil
      try probe.replace(id, changed)
      try expectEqual(try probe.kept(id), second, "the body before the class")
      var ids: [Int64] = []
      var new: [GeneratedDocument] = []
      for number in 0..<40 as Range<Int64> {
        new.append(GeneratedDocument(["n": .int(number)], key: try DocumentKey("\(number)")))
      }
      try probe.write { try $0.insert(all: new, into: "c", &ids) }
      let before = try ids.map { try probe.stored($0) }
      for index in new.indices { new[index].object = ["n": .int(Int64(100 + index))] }
      try probe.write { writer in
        for document in new { _ = try document.new { try writer.save($0, into: "c") } }
      }
      try expectEqual(try ids.map { try probe.kept($0) }, before, "the bodies of all")
      let all = try probe.read { try $0.allKept(limit: 7) }
      try expectEqual(all.map(\.rowID), ([id] + ids).sorted(), "the rows of all kept bodies")
      try probe.write { try $0.removePreviousBodies(ofRows: ids, in: "c") }
      let left = try probe.read { try $0.allKept(limit: 7) }
      try expectEqual(left.map(\.rowID), [id], "the rows whose bodies were not removed")
    },
    Check("What is rolled back keeps no body") { probe in
      guard probe.has(.changeTracking) else { return }
      let id = try probe.insert(["n": 0], key: "k")
      try probe.rolledBack { try $0.setKeepsPreviousBodies(true, of: "c") }
      try expectEqual(
        try probe.read { try $0.keepsPreviousBodies(in: "c") }, false, "whether they are kept")
      try probe.keep()
      try probe.rolledBack { writer in
        try writer.save(["n": 1], key: "k")
        try expectEqual(try writer.kept(id)?.body, "{\"n\":0}", "the body in the transaction")
      }
      try probe.write { writer in
        try writer.rolledBack { _ = try writer.save(["n": 2], key: "k") }
        try expectEqual(try writer.kept(id), nil, "the body after the savepoint")
        try writer.rolledBack { try writer.setKeepsPreviousBodies(false, of: "c") }
        try expectEqual(try writer.keepsPreviousBodies(in: "c"), true, "whether they are kept")
      }
      try expectEqual(try probe.kept(id), nil, "the body")
    },
    Check("The body of a deleted document remains, and a new one with its row ID does not have it")
    {
      probe in
      guard probe.has(.changeTracking) else { return }
      try probe.keep()
      let id = try probe.insert(["n": 0], key: "k")
      let first = try probe.stored(id)
      _ = try probe.write { try $0.save(["n": 1], key: "k") }
      _ = try probe.write { try $0.delete(.rowID(id), from: "c") }
      try expectEqual(try probe.kept(id), first, "the body of a deleted document")
      _ = try probe.write { writer in
        try GeneratedDocument(["n": 2]).new { new in
          var new = new
          new.rowID = id
          return try writer.insert(new, into: "c")
        }
      }
      try expectEqual(try probe.kept(id), nil, "the body of the new document")
      let second = try probe.stored(id)
      try probe.replace(id, GeneratedDocument(["n": 3]))
      try expectEqual(try probe.kept(id), second, "its body before the update")
      _ = try probe.write { try $0.delete(Query(), from: "c") }
      try expectEqual(try probe.kept(id), second, "the body after all documents are deleted")
      try probe.write { try $0.removePreviousBodies(ofRows: [id], in: "c") }
      try expectEqual(try probe.kept(id), nil, "the removed body")
    },
    Check("Bodies end with keeping them, and with the collection") { probe in
      guard probe.has(.changeTracking) else { return }
      let id = try probe.insert(["n": 0], key: "k")
      for _ in 0..<2 {
        try probe.keep()
        _ = try probe.write { try $0.save(["n": 1], key: "k") }
        _ = try probe.write { try $0.save(["n": 2], key: "k") }
        try expect(try probe.kept(id) != nil, "a body is kept")
        try probe.keep(false)
        try expectEqual(try probe.kept(id), nil, "the body")
      }
      try probe.keep()
      _ = try probe.write { try $0.save(["n": 1], key: "k") }
      _ = try probe.write { try $0.dropCollection("c") }
      try expectEqual(
        try probe.read { try $0.keepsPreviousBodies(in: "c") }, false, "in a dropped collection")
      try probe.insert(["n": 0], key: "k")
      _ = try probe.write { try $0.save(["n": 1], key: "k") }
      try expectEqual(
        try probe.read { try $0.keepsPreviousBodies(in: "c") }, false, "in a new collection")
      try expectEqual(try probe.read { try $0.allKept(limit: 5) }, [], "the bodies")
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
    Check("A kept body can be replaced, as with another encryption") { probe in
      guard probe.has(.changeTracking) else { return }
      let ids = try (0..<2).map { try probe.insert(["n": .int($0)], key: "\($0)") }
      try probe.keep()
      _ = try probe.write { try $0.save(["n": 5], key: "0") }
      var expected = try probe.kept(ids[0])
      expected?.body = "{\"other\":1.0}"
      try probe.write { writer in
        for id in ids {
          try Array("{\"other\":1.0}".utf8).withUnsafeBytes {
            try writer.replacePreviousBody(ofRow: id, with: $0, in: "c")
          }
        }
      }
      try expectEqual(try probe.kept(ids[0]), expected, "the body")
      try expectEqual(try probe.kept(ids[1]), nil, "the body of another document")
    },
    Check("After random changes, what is kept are the documents before their first update") {
      probe in
      guard probe.has(.changeTracking) else { return }
      for (isIndexed, isTracked) in [(false, false), (true, true)] {
        let name = isIndexed ? "indexed" : "plain"
        if isIndexed {
          try probe.write {
            try $0.createIndex(IndexDefinition(columns: [.init("n")]), in: name)
          }
        }
        if isTracked {
          try probe.write { try $0.setTracking(FeedState(timeline: 1), of: name) }
        }
        _ = try probe.write { try $0.insert(["n": -1], key: "first", into: name) }
        try probe.keep(of: name)
        var program = PreviousBodyProgram(name: name)
        for step in 0..<150 {
          try program.step(probe)
          if step.isMultiple(of: 10) { try program.expectKept(probe, step) }
        }
        if probe.has(.durable) { try probe.reopen() }
        try program.expectKept(probe, 150)
      }
      try expectEqual(try probe.engine.verify(), [], "problems")
    },
  ]
}

/// Random changes of a collection, and the bodies that they keep.
private struct PreviousBodyProgram {
  let name: String
  private var random = SplitMix(seed: 8)
  private var kept: [Int64: Snapshot] = [:]
  private var count: Int64 = 0

  init(name: String) { self.name = name }

  mutating func step(_ probe: Probe) throws {
    let key = "\(Int.random(in: 0..<12, using: &random))"
    let identity = Identity.key(try DocumentKey(key))
    count += 1
    let object: DocumentObject = ["n": .int(count)]
    let name = name
    switch Int.random(in: 0..<10, using: &random) {
    case 0...4:
      if let before = try probe.read({ try $0.document(identity, in: name) }) {
        note(before)
      }
      _ = try probe.write { try $0.save(object, key: key, in: name) }
    case 5:
      guard let before = try probe.read({ try $0.document(identity, in: name) }) else { return }
      note(before)
      _ = try probe.write { writer in
        try GeneratedDocument(object, key: before.key).new {
          try writer.replace(.rowID(before.rowID), with: $0, in: name)
        }
      }
    case 6: _ = try probe.write { try $0.delete(identity, from: name) }
    case 7:
      try probe.rolledBack { _ = try $0.save(object, key: key, in: name) }
    case 8:
      let ids = kept.keys.sorted().filter { _ in Bool.random(using: &random) }
      try probe.write { try $0.removePreviousBodies(ofRows: ids, in: name) }
      for id in ids { kept[id] = nil }
    default:
      let before: [Snapshot] = try probe.read { reader in
        try reader.ids(in: name).compactMap { id -> Snapshot? in
          try reader.document(.rowID(id), in: name)
        }
      }
      for document in before { note(document) }
      try probe.write { writer in
        for document in before {
          _ = try GeneratedDocument(object, key: document.key).new {
            try writer.replace(.rowID(document.rowID), with: $0, in: name)
          }
        }
      }
    }
  }

  private mutating func note(_ before: Snapshot) {
    if kept[before.rowID] == nil { kept[before.rowID] = before }
  }

  func expectKept(_ probe: Probe, _ step: Int) throws {
    let found = try probe.read { try $0.allKept(limit: 5, in: name) }
    let expected = kept.values.sorted { $0.rowID < $1.rowID }
    try expectEqual(found, expected, "the kept bodies after step \(step)")
    for snapshot in expected {
      try expectEqual(
        try probe.read { try $0.kept(snapshot.rowID, in: name) }, .some(snapshot), "a kept body")
    }
  }
}
