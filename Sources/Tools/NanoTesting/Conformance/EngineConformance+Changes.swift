// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// What an engine told of its commits.
private final class Told: Sendable {
  private let commits = Mutex<[Commit]>([])

  func add(_ commit: Commit) { commits.withLock { $0.append(commit) } }

  /// What was told since this was asked last.
  func take() -> [Commit] {
    commits.withLock { commits in
      defer { commits = [] }
      return commits
    }
  }
}

extension Probe {
  /// Runs a block with an observer; does nothing if the engine has none.
  fileprivate func observing(_ work: (Told) throws -> Void) throws {
    guard has(.changes) else { return }
    let told = Told()
    let observation = try engine.observeCommits { told.add($0) }
    try work(told)
    observation.cancel()
  }
}

/// What was told of one transaction must cover what it did; it may cover more.
private func expectCovered(
  _ told: Told, _ kind: Change.Kind, _ ids: [Int64], in collection: String = "c",
  line: UInt = #line
) throws {
  let commits = told.take()
  try expectEqual(commits.count, 1, "commits told of", line: line)
  guard let change = commits.first?.change(in: collection) else {
    throw ConformanceFailure("the collection is not told of", #fileID, line)
  }
  guard let rows = change.rows else { return }
  for id in ids { try expectEqual(rows[id], kind, "document \(id)", line: line) }
}

extension EngineConformance {
  private struct Undo: Error {}

  static let changes: [Check] = [
    Check("An engine that tells of no commits says so") { probe in
      guard !probe.has(.changes) else { return }
      try expectError(.unsupported, "observe") { _ = try probe.engine.observeCommits { _ in } }
    },
    Check("Each commit is told of, with the documents it changed") { probe in
      try probe.observing { told in
        let id = try probe.insert(["a": 1], key: "k")
        try expectCovered(told, .inserted, [id])
        try probe.write { _ = try $0.save(["a": 2], key: "k") }
        try expectCovered(told, .updated, [id])
        let other = try probe.write { try $0.save(["a": 3], key: "other") }
        try expectCovered(told, .inserted, [other])
        _ = try probe.write { writer in
          try GeneratedDocument(["a": 4]).new { try writer.replace(.rowID(id), with: $0, in: "c") }
        }
        try expectCovered(told, .updated, [id])
        _ = try probe.write { try $0.delete(.key(try DocumentKey("k")), from: "c") }
        try expectCovered(told, .deleted, [id])
      }
    },
    Check("What a condition removes is told of") { probe in
      let ids = try probe.write { writer in
        try (0..<20 as Range<Int64>).map { try writer.insert(["a": .int($0)]) }
      }
      let few = Query(.comparison(.field("a"), .less, .value(.int(5))))
      try probe.observing { told in
        _ = try probe.write { try $0.delete(few, from: "c") }
        try expectCovered(told, .deleted, Array(ids[..<5]))
        _ = try probe.write { try $0.delete(Query(), from: "c") }
        try expectCovered(told, .deleted, Array(ids[5...]))
      }
    },
    Check("A dropped collection is told of") { probe in
      let id = try probe.insert([:])
      try probe.observing { told in
        _ = try probe.write { try $0.dropCollection("c") }
        try expectCovered(told, .deleted, [id])
      }
    },
    Check("Other defaults are told of, since they decide what is found") { probe in
      try probe.insert([:])
      try probe.observing { told in
        try probe.write { try $0.setSettings(CollectionSettings(defaults: ["a": 1]), of: "c") }
        try expectEqual(told.take().map { $0.change(in: "c") }, [Change("c", nil)], "told of")
      }
    },
    Check("More documents than are told one by one are told of all the same") { probe in
      try probe.observing { told in
        let ids = try probe.write { writer in
          try (0...Commit.maximumRows).map { _ in try writer.insert([:]) }
        }
        try expectCovered(told, .inserted, ids)
      }
    },
    Check("A transaction is told of once, with all of its collections") { probe in
      try probe.observing { told in
        try probe.write { writer in
          try writer.insert([:], into: "c")
          try writer.insert([:], into: "d")
          try writer.insert([:], into: "c")
        }
        let commits = told.take()
        try expectEqual(commits.count, 1, "commits told of")
        for name in ["c", "D"] {
          try expect(commits[0].change(in: name) != nil, "\(name) is not told of")
        }
      }
    },
    Check("What was undone is not told of, and hides nothing") { probe in
      let id = try probe.insert(["a": 1])
      try probe.observing { told in
        do {
          try probe.write { writer in
            try writer.insert([:])
            throw Undo()
          }
        } catch is Undo {}
        try expectEqual(told.take(), [], "after a transaction that was undone")
        try probe.write { writer in
          do {
            try writer.savepoint {
              _ = try writer.delete(.rowID(id), from: "c")
              throw Undo()
            }
          } catch is Undo {}
          _ = try GeneratedDocument(["a": 2]).new {
            try writer.replace(.rowID(id), with: $0, in: "c")
          }
        }
        try expectCovered(told, .updated, [id])
      }
    },
    Check("A refused document in a transaction that goes on hides nothing") { probe in
      let id = try probe.insert(["a": 1], key: "k")
      try probe.observing { told in
        let other = try probe.write { writer in
          let other = try writer.insert(["a": 2])
          do { try writer.insert([:], key: "k") } catch let error as StoreError
            where error.code == .duplicateKey
          {}
          _ = try writer.delete(.rowID(id), from: "c")
          return other
        }
        let commit = told.take().first?.change(in: "c")
        guard let rows = commit?.rows else { return try expect(commit != nil, "nothing was told") }
        try expectEqual(rows, [id: .deleted, other: .inserted], "rows")
      }
    },
    Check("Nothing is told of what changes no document") { probe in
      try probe.insert([:])
      try probe.observing { told in
        _ = try probe.ids()
        try probe.write { try $0.createIndex(IndexDefinition(columns: [.init("a")]), in: "c") }
        try probe.write { try $0.setMetadata(.int(1), "m") }
        _ = try probe.write { try $0.delete(.rowID(1_000), from: "c") }
        try expectEqual(told.take(), [], "commits told of")
      }
    },
    Check("An observer that is cancelled, or let go of, hears no more") { probe in
      guard probe.has(.changes) else { return }
      let (first, second, third) = (Told(), Told(), Told())
      let cancelled = try probe.engine.observeCommits { first.add($0) }
      var dropped: CommitObservation? = try probe.engine.observeCommits { second.add($0) }
      let kept = try probe.engine.observeCommits { third.add($0) }
      cancelled.cancel()
      cancelled.cancel()
      dropped = nil
      try probe.insert([:])
      try expect(dropped == nil, "an observer that was let go of")
      try expectEqual([first.take().count, second.take().count], [0, 0], "heard after the end")
      try expectEqual(third.take().count, 1, "heard by the other one")
      kept.cancel()
    },
    Check("An engine that is closed takes no observers") { probe in
      guard probe.has(.changes) else { return }
      try probe.engine.close()
      try expectError(.closed, "observe") { _ = try probe.engine.observeCommits { _ in } }
    },
  ]
}
