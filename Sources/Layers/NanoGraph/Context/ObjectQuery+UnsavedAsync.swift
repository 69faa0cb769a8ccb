// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel
import NanoStoreCore

/// Merging with unsaved changes while the store is read on its own threads.
extension ObjectQuery {
  typealias Content = UnsavedMatch<Object>.Content

  /// The number of reads before the query blocks the context to finish. Arbitrary: each is repeated
  /// only if the context was saved, followed a commit, or was changed in ways that the read did not
  /// cover.
  static var attempts: Int { 3 }

  /// Returns the results in order. Changes of the context during the read are considered.
  func mergedContents(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [UnsavedMatch<Object>.Content] {
    let table = context.table(Object.self)
    context.pendingReads += 1
    defer { context.pendingReads -= 1 }
    for _ in 0..<Self.attempts {
      let reads = try UnsavedChanges(self).reads
      let (saves, commits) = (context.saveCount, table.followedCommits)
      let (inputs, stored) = try await reads.query.collection.onReader {
        try reads.query.collection.store.read {
          let inputs = try reads.inputs()
          return (inputs, try reads.stored(omitting: inputs.omitted.count).fetch())
        }
      }
      // Inserts the objects that new relationships reach.
      _ = try context.affectsResults(of: table)
      let changes = try UnsavedChanges(self)
      guard saves == context.saveCount, commits == table.followedCommits,
        reads.covers(changes.reads, isCount: false)
      else { continue }
      return try merge(changes, inputs, stored)
    }
    return try blockingContents()
  }

  func merge(
    _ changes: UnsavedChanges<Object>, _ inputs: UnsavedInputs, _ stored: [Document]
  ) throws -> [Content] {
    var contents: [Content] = []
    func add(_ result: MergedResult<Document, Object>) -> Bool {
      switch result {
      case .stored(let document): contents.append(.document(document))
      case .unsaved(let content): contents.append(content)
      }
      return true
    }
    var merge = try UnsavedMerge<Document, Object>(changes, inputs)
    for document in stored {
      guard try document.withStored({ try merge.add(document, $0, add) }) else { break }
    }
    try merge.finish(add)
    return contents
  }

  private func blockingContents() throws -> [Content] {
    let changes = try UnsavedChanges(self)
    return try context.store.read {
      let inputs = try changes.reads.inputs()
      return try merge(
        changes, inputs, try changes.reads.stored(omitting: inputs.omitted.count).fetch())
    }
  }

  func mergedCount(isolation: isolated (any Actor)?) async throws -> Int {
    for _ in 0..<Self.attempts {
      let reads = try UnsavedChanges(self).reads
      let saves = context.saveCount
      let (inputs, stored) = try await reads.query.collection.onReader {
        try reads.query.collection.store.read {
          let inputs = try reads.inputs()
          return (inputs, try reads.count(inputs))
        }
      }
      _ = try context.affectsResults(of: context.table(Object.self))
      let changes = try UnsavedChanges(self)
      guard saves == context.saveCount, reads.covers(changes.reads, isCount: true) else {
        continue
      }
      return try changes.count(inputs, stored: stored)
    }
    // The synchronous form.
    return try { try mergedCount() }()
  }
}
