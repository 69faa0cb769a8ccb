// SPDX-License-Identifier: MIT

import Dispatch
public import NanoDocument
import NanoEngine
import Synchronization

/// The documents that a query finds, one after the other, from the snapshot that is taken when the
/// first one is asked for. Writes made since are not in it.
///
/// ```swift
/// for try await film in films.find().stream() { … }
/// ```
///
/// At most a few hundred documents are in memory at once, however many are found, and a connection
/// stays busy until the loop ends. Where the store has one connection for everything (in memory, in a
/// temporary file, without a write-ahead log) or saves are collected, all of them are read first, so
/// that the loop may use the store.
public struct DocumentStream: AsyncSequence, Sendable {
  public typealias Element = Document
  let query: DocumentQuery

  public func makeAsyncIterator() -> Iterator { Iterator(query) }

  public final class Iterator: AsyncIteratorProtocol {
    private let handover: Handover
    private let interruption = Interruption()
    private let query: DocumentQuery
    private var batch: ArraySlice<Document> = []
    private var isStarted = false

    init(_ query: DocumentQuery) {
      self.query = query
      handover = Handover()
    }

    deinit { Self.stop(handover, interruption) }

    private static func stop(_ handover: Handover, _ interruption: Interruption) {
      handover.stop()
      interruption.trigger()
    }

    public func next() async throws -> Document? {
      if batch.isEmpty {
        if !isStarted {
          isStarted = true
          try await query.collection.finishQueued()
          start()
        }
        let (handover, interruption) = (handover, interruption)
        batch = try await withTaskCancellationHandler {
          try await handover.take()[...]
        } onCancel: {
          Self.stop(handover, interruption)
        }
        if batch.isEmpty, Task.isCancelled { throw CancellationError() }
      }
      return batch.popFirst()
    }

    private func start() {
      let (query, handover, interruption) = (query, handover, interruption)
      // A queue of its own, since its thread waits for the loop.
      DispatchQueue(label: "NanoStore.stream").async {
        do {
          let last = try interruption.stopping { try Self.read(query, handover) }
          handover.finish(last, nil)
        } catch is Stopped {
        } catch {
          handover.finish([], error)
        }
      }
    }

    /// Hands over all batches but the last.
    private static func read(_ query: DocumentQuery, _ handover: Handover) throws -> [Document] {
      guard try query.collection.store.readsBesideWrites else { return try query.fetch() }
      var batch: [Document] = []
      try query.each { document in
        batch.append(document)
        if batch.count >= Self.batchSize {
          guard handover.give(batch) else { throw Stopped() }
          batch = []
        }
      }
      return batch
    }

    private struct Stopped: Error {}

    /// Enough that handing over costs little per document.
    private static let batchSize = 128
  }
}

extension DocumentQuery {
  /// What is found, as an asynchronous sequence in constant memory.
  public func stream() -> DocumentStream { DocumentStream(query: self) }
}

extension Store {
  /// Whether a read that takes its time keeps nobody from writing.
  fileprivate var readsBesideWrites: Bool {
    get throws {
      try engine().capabilities.contains(.concurrentReads) && !hasUnsavedChanges
    }
  }
}

/// Hands batches from the thread that reads to the task that asks, one at a time.
final class Handover: Sendable {
  private enum Stage {
    /// Nothing is ready, nobody waits.
    case idle
    case waiting(CheckedContinuation<[Document], any Error>)
    case ready([Document])
    /// The last batch, or what went wrong.
    case last([Document], (any Error)?)
    case over
  }
  private let stage = Mutex(Stage.idle)
  /// Free when the reading thread may prepare another batch.
  private let room = DispatchSemaphore(value: 0)

  /// The next batch; empty at the end.
  func take() async throws -> [Document] {
    try await withCheckedThrowingContinuation { continuation in
      let answer: Result<[Document], any Error>? = stage.withLock { stage in
        switch stage {
        case .idle:
          stage = .waiting(continuation)
          return nil
        case .ready(let batch):
          stage = .idle
          return .success(batch)
        case .last(let batch, let error):
          stage = .over
          return error.map { .failure($0) } ?? .success(batch)
        case .over, .waiting: return .success([])
        }
      }
      guard let answer else { return }
      room.signal()
      continuation.resume(with: answer)
    }
  }

  /// Waits until the batch before was taken; false if nobody wants more.
  func give(_ batch: [Document]) -> Bool {
    while true {
      let done: Bool? = stage.withLock { stage in
        switch stage {
        case .idle:
          stage = .ready(batch)
          return true
        case .waiting(let continuation):
          stage = .idle
          continuation.resume(returning: batch)
          return true
        case .ready: return nil
        case .last, .over: return false
        }
      }
      if let done { return done }
      room.wait()
    }
  }

  func finish(_ batch: [Document], _ error: (any Error)?) {
    while true {
      let isDone = stage.withLock { stage in
        switch stage {
        case .waiting(let continuation):
          stage = .over
          continuation.resume(with: error.map { .failure($0) } ?? .success(batch))
          return true
        case .idle:
          stage = .last(batch, error)
          return true
        case .ready: return false
        case .last, .over: return true
        }
      }
      if isDone { return }
      room.wait()
    }
  }

  /// The task wants no more.
  func stop() {
    stage.withLock { stage in
      if case .waiting(let continuation) = stage { continuation.resume(returning: []) }
      stage = .over
    }
    room.signal()
  }
}
