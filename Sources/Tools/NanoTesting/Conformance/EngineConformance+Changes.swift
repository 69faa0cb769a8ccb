// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// Records the commits that an engine reports.
private final class CommitRecorder: Sendable {
  private let commits = Mutex<[Commit]>([])

  func add(_ commit: Commit) { commits.withLock { $0.append(commit) } }

  /// Returns the commits reported since the last call.
  func take() -> [Commit] {
    commits.withLock { commits in
      defer { commits = [] }
      return commits
    }
  }
}

extension Probe {
  /// Runs a closure with an observer; does nothing if the engine does not report changes.
  fileprivate func observing(_ work: (CommitRecorder) throws -> Void) throws {
    guard has(.changes) else { return }
    let recorder = CommitRecorder()
    let observation = try engine.observeCommits { recorder.add($0) }
    try work(recorder)
    observation.cancel()
  }
}

/// Expects a report of one transaction that covers the given changes; it may cover more.
private func expectCovered(
  _ recorder: CommitRecorder, _ kind: Change.Kind, _ ids: [Int64], in collection: String = "c",
  line: UInt = #line
) throws {
  let commits = recorder.take()
  try expectEqual(commits.count, 1, "reported commits", line: line)
  guard let change = commits.first?.change(in: collection) else {
    throw ConformanceFailure("the collection is not reported", #fileID, line)
  }
  guard let rows = change.rows else { return }
  for id in ids { try expectEqual(rows[id], kind, "document \(id)", line: line) }
}

extension EngineConformance {
  private struct Rollback: Error {}

  static let changes: [Check] = [
    Check("An engine without change reporting refuses observers") { probe in
      guard !probe.has(.changes) else { return }
      try expectError(.unsupported, "observe") { _ = try probe.engine.observeCommits { _ in } }
    },
    Check("Each commit is reported with the documents it changed") { probe in
      try probe.observing { recorder in
        let id = try probe.insert(["a": 1], key: "k")
        try expectCovered(recorder, .inserted, [id])
        try probe.write { _ = try $0.save(["a": 2], key: "k") }
        try expectCovered(recorder, .updated, [id])
        let other = try probe.write { try $0.save(["a": 3], key: "other") }
        try expectCovered(recorder, .inserted, [other])
        _ = try probe.write { writer in
          try GeneratedDocument(["a": 4]).new { try writer.replace(.rowID(id), with: $0, in: "c") }
        }
        try expectCovered(recorder, .updated, [id])
        _ = try probe.write { try $0.delete(.key(try DocumentKey("k")), from: "c") }
        try expectCovered(recorder, .deleted, [id])
      }
    },
    Check("Documents deleted by a condition are reported") { probe in
      let ids = try probe.write { writer in
        try (0..<20 as Range<Int64>).map { try writer.insert(["a": .int($0)]) }
      }
      let few = Query(.comparison(.field("a"), .less, .value(.int(5))))
      try probe.observing { recorder in
        _ = try probe.write { try $0.delete(few, from: "c") }
        try expectCovered(recorder, .deleted, Array(ids[..<5]))
        _ = try probe.write { try $0.delete(Query(), from: "c") }
        try expectCovered(recorder, .deleted, Array(ids[5...]))
      }
    },
    Check("A dropped collection is reported") { probe in
      let id = try probe.insert([:])
      try probe.observing { recorder in
        _ = try probe.write { try $0.dropCollection("c") }
        try expectCovered(recorder, .deleted, [id])
      }
    },
    Check("A collection that is dropped and created again in one transaction is reported") {
      probe in
      try probe.observing { recorder in
        for isEmpty in [true, false] {
          let id = try probe.insert(["a": 1])
          _ = recorder.take()
          try probe.write { writer in
            _ = try writer.dropCollection("c")
            if isEmpty {
              try writer.createCollection(CollectionDescription(name: "c"))
            } else {
              try writer.insert(["a": 2])
            }
          }
          try expectCovered(recorder, isEmpty ? .deleted : .updated, [id])
        }
      }
    },
    Check("A document that is deleted and inserted again with its row ID is reported as updated") {
      probe in
      let id = try probe.insert(["a": 1])
      try probe.observing { recorder in
        try probe.write { writer in
          _ = try writer.delete(.rowID(id), from: "c")
          _ = try GeneratedDocument(["a": 2]).new { document in
            var document = document
            document.rowID = id
            return try writer.insert(document, into: "c")
          }
        }
        try expectCovered(recorder, .updated, [id])
      }
    },
    Check("A change of defaults is reported, since it affects query results") { probe in
      try probe.insert([:])
      try probe.observing { recorder in
        try probe.write { try $0.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c") }
        try expectEqual(recorder.take().map { $0.change(in: "c") }, [Change("c", nil)], "reported")
      }
    },
    Check("More changes than are reported individually are still reported") { probe in
      try probe.observing { recorder in
        let ids = try probe.write { writer in
          try (0...Commit.maximumRows).map { _ in try writer.insert([:]) }
        }
        try expectCovered(recorder, .inserted, ids)
      }
    },
    Check("A transaction is reported once, with all of its collections") { probe in
      try probe.observing { recorder in
        try probe.write { writer in
          try writer.insert([:], into: "c")
          try writer.insert([:], into: "d")
          try writer.insert([:], into: "c")
        }
        let commits = recorder.take()
        try expectEqual(commits.count, 1, "reported commits")
        for name in ["c", "D"] {
          try expect(commits[0].change(in: name) != nil, "\(name) is not reported")
        }
      }
    },
    Check("Rolled-back changes are not reported, and hide no other changes") { probe in
      let id = try probe.insert(["a": 1])
      try probe.observing { recorder in
        do {
          try probe.write { writer in
            try writer.insert([:])
            throw Rollback()
          }
        } catch is Rollback {}
        try expectEqual(recorder.take(), [], "after a rolled-back transaction")
        try probe.write { writer in
          do {
            try writer.savepoint {
              _ = try writer.delete(.rowID(id), from: "c")
              throw Rollback()
            }
          } catch is Rollback {}
          _ = try GeneratedDocument(["a": 2]).new {
            try writer.replace(.rowID(id), with: $0, in: "c")
          }
        }
        try expectCovered(recorder, .updated, [id])
      }
    },
    Check("A rejected document in a transaction that continues hides no other changes") { probe in
      let id = try probe.insert(["a": 1], key: "k")
      try probe.observing { recorder in
        let other = try probe.write { writer in
          let other = try writer.insert(["a": 2])
          do { try writer.insert([:], key: "k") } catch let error as StoreError
            where error.code == .duplicateKey
          {}
          _ = try writer.delete(.rowID(id), from: "c")
          return other
        }
        let commit = recorder.take().first?.change(in: "c")
        guard let rows = commit?.rows else {
          return try expect(commit != nil, "nothing was reported")
        }
        try expectEqual(rows, [id: .deleted, other: .inserted], "rows")
      }
    },
    Check("Operations that change no document are not reported") { probe in
      try probe.insert([:])
      try probe.observing { recorder in
        _ = try probe.ids()
        try probe.write { try $0.createIndex(IndexDefinition(columns: [.init("a")]), in: "c") }
        try probe.write { try $0.setMetadata(.int(1), "m") }
        _ = try probe.write { try $0.delete(.rowID(1_000), from: "c") }
        try expectEqual(recorder.take(), [], "reported commits")
      }
    },
    Check("A canceled or deallocated observer is not called again") { probe in
      guard probe.has(.changes) else { return }
      let (first, second, third) = (CommitRecorder(), CommitRecorder(), CommitRecorder())
      let canceled = try probe.engine.observeCommits { first.add($0) }
      var dropped: CommitObservation? = try probe.engine.observeCommits { second.add($0) }
      let kept = try probe.engine.observeCommits { third.add($0) }
      canceled.cancel()
      canceled.cancel()
      dropped = nil
      try probe.insert([:])
      try expect(dropped == nil, "a deallocated observer")
      try expectEqual([first.take().count, second.take().count], [0, 0], "reported after the end")
      try expectEqual(third.take().count, 1, "reported to the remaining observer")
      kept.cancel()
    },
    Check("A closed engine refuses observers") { probe in
      guard probe.has(.changes) else { return }
      try probe.engine.close()
      try expectError(.closed, "observe") { _ = try probe.engine.observeCommits { _ in } }
    },
  ]
}
