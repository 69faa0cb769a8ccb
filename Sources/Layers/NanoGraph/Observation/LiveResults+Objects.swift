// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoModel
public import NanoStoreCore
import Synchronization

extension LiveResults where Element: GraphObject {
  /// Creates live results of a query in a context: its objects, with unsaved changes considered as in
  /// ``ObjectQuery/fetch()``.
  ///
  /// ```swift
  /// let long = LiveResults(context.find(\Song.seconds > 600).sorted(by: \.title))
  /// ```
  ///
  /// Observers of the elements are notified if there are other objects or if they have another order. What the objects
  /// contain is observed on the objects: a change of a title wakes the observers of that title only. The results keep
  /// the context alive.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - loading: When the query is first evaluated.
  ///   - interval: The minimum time between two evaluations, at most a day.
  ///   - isolation: The actor that the results belong to, which is that of the context.
  public convenience init(
    _ query: ObjectQuery<Element>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    self.init(
      LiveSource(query), loading: loading, interval: interval, isolation: isolation)
    query.context.liveQueries.add(self, query.context.table(Element.self))
  }

  /// Changes the query; the elements remain until those of the new query exist.
  public func change(to query: ObjectQuery<Element>) {
    query.context.liveQueries.add(self, query.context.table(Element.self))
    change(to: LiveSource(query))
  }
}

extension LiveSource where Element: GraphObject {
  /// The stored documents are read outside of the actor, and become objects there, merged with unsaved changes.
  fileprivate init(_ query: ObjectQuery<Element>) {
    let reading = LiveObjectReading(query)
    self.init(reading.evaluator, identify: { AnyHashable(ObjectIdentifier($0)) }) { value in
      let objects = try query.objects(value)
      try reading.prepare(query)
      return objects
    }
  }
}

/// What live results of objects read from the store.
private enum LiveObjects: Sendable {
  /// The results of the query.
  case stored([Document])
  /// What is needed to merge the results with unsaved changes, unless the context is saved in the meantime.
  case mergeable(UnsavedReads, saves: Int, UnsavedInputs, [Document])
}

/// The reads of live results, which depend on the unsaved changes at the previous evaluation.
private final class LiveObjectReading: Sendable {
  private let next = Mutex<(reads: UnsavedReads, saves: Int)?>(nil)
  private let stored: Result<LiveQueryEvaluator<[Document]>, any Error>
  private let base: LiveQueryEvaluator<[Document]>

  init<Object: GraphObject>(_ query: ObjectQuery<Object>) {
    stored = Result { try query.models.documentUpdates().evaluator }
    base = query.context.table(Object.self).documents.find().updates().evaluator
  }

  var evaluator: LiveQueryEvaluator<LiveObjects> {
    let evaluator = (try? stored.get()) ?? base
    return LiveQueryEvaluator(evaluator) { [self] reader in
      if let (reads, saves) = next.withLock({ $0 }) {
        // Values are created after the read, so that it can use the store.
        return LiveResult(.values([])) {
          try reads.query.collection.store.read {
            let inputs = try reads.inputs()
            let documents = try reads.stored(omitting: inputs.omitted.count).fetch()
            return .mergeable(reads, saves: saves, inputs, documents)
          }
        }
      }
      let result = try stored.get().read(reader)
      return LiveResult(result.fingerprint) { .stored(try result.make()) }
    }
  }

  /// Notes what the next evaluation has to read.
  func prepare<Object: GraphObject>(_ query: ObjectQuery<Object>) throws {
    let reads =
      try query.considersUnsavedChanges()
      ? (reads: UnsavedChanges(query).reads, saves: query.context.saveCount) : nil
    next.withLock { $0 = reads }
  }
}

extension ObjectQuery {
  /// Returns the objects of an evaluation; if it does not suit the unsaved changes of this moment, those of another one.
  fileprivate func objects(_ found: LiveObjects) throws -> [Object] {
    switch found {
    case .stored(let documents):
      guard try considersUnsavedChanges() else {
        return try documents.compactMap { try object($0) }
      }
    case .mergeable(let reads, let saves, let inputs, let documents):
      guard try considersUnsavedChanges(), saves == context.saveCount else { break }
      let changes = try UnsavedChanges(self)
      guard reads.covers(changes.reads, isCount: false) else { break }
      return try merge(changes, inputs, documents).compactMap { try object($0) }
    }
    return try fetch()
  }
}
