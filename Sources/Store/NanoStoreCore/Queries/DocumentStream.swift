// SPDX-License-Identifier: MIT

import Dispatch
public import NanoDocument
import NanoEngine
import Synchronization

/// An asynchronous sequence of the documents that match a query, from one snapshot.
///
/// The snapshot is taken when the first document is requested; later writes are not visible.
///
/// ```swift
/// for try await film in films.find().stream() { … }
/// ```
///
/// At most a few hundred documents are in memory at once, and a connection stays busy until the
/// loop ends. All documents are read first, so that the loop may use the store, if the store has a
/// single connection (in memory, in a temporary file, without a write-ahead log) or buffers saves,
/// and if other streams keep all of its connections but one.
///
/// If the store is closed before all documents are read, the loop throws
/// ``/NanoDocument/StoreError/Code/closed``.
public struct DocumentStream: AsyncSequence, Sendable {
  /// The documents that match the query.
  public typealias Element = Document
  let query: DocumentQuery

  /// Returns an iterator, which executes the query with its first call.
  public func makeAsyncIterator() -> Iterator { Iterator(query) }

  /// Iterates over the documents of a stream. Ending the loop or canceling its task interrupts the
  /// query.
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

    /// Returns the next document, or nil at the end.
    ///
    /// - Throws: ``StoreError``; `CancellationError` if the task is canceled.
    public func next() async throws -> Document? {
      if Task.isCancelled {
        Self.stop(handover, interruption)
        throw CancellationError()
      }
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
      let streams = query.collection.store.streams
      let end: @Sendable (any Error) -> Void = { error in
        handover.end(with: error)
        interruption.trigger()
      }
      // A dedicated queue, because its thread waits for the consumer.
      DispatchQueue(label: "NanoStore.stream").async {
        do {
          let last = try streams.run(endingWith: end) {
            try interruption.stopping { try Self.read(query, handover) }
          }
          handover.finish(last, nil)
        } catch is Stopped {
        } catch {
          handover.finish([], error)
        }
      }
    }

    /// Passes on all batches except the last, which it returns.
    private static func read(_ query: DocumentQuery, _ handover: Handover) throws -> [Document] {
      let store = query.collection.store
      guard try store.readsBesideWrites else { return try query.fetch() }
      return try store.streams.keepingConnection(atMost: store.engine().maximumReads - 1) {
        try readInBatches(query, handover)
      } ?? query.fetch()
    }

    private static func readInBatches(
      _ query: DocumentQuery, _ handover: Handover
    ) throws -> [Document] {
      var batch: [Document] = []
      try query.each { document in
        batch.append(document)
        if batch.count >= Self.batchSize {
          guard handover.put(batch) else { throw Stopped() }
          batch = []
        }
      }
      return batch
    }

    private struct Stopped: Error {}

    /// Large enough that the handover costs little per document.
    private static let batchSize = 128
  }
}

extension DocumentQuery {
  /// Returns the results as an asynchronous sequence that uses constant memory.
  public func stream() -> DocumentStream { DocumentStream(query: self) }
}

extension Store {
  /// Whether a long-running read does not block writes.
  fileprivate var readsBesideWrites: Bool {
    get throws {
      // An empty buffer is not enough: another thread may save before the query begins.
      try engine().capabilities.contains(.concurrentReads)
        && withPending { $0.interval == 1 && $0.isEmpty }
    }
  }
}

/// Passes batches from the reading thread to the consuming task, one at a time, with backpressure.
final class Handover: Sendable {
  private enum Stage {
    /// No batch is ready, and no consumer is waiting.
    case idle
    case waiting(CheckedContinuation<[Document], any Error>)
    case ready([Document])
    /// The last batch, or the error that ended the query.
    case last([Document], (any Error)?)
    case over
  }
  private let stage = Mutex(Stage.idle)
  /// Signaled when the reading thread may prepare the next batch.
  private let room = DispatchSemaphore(value: 0)

  /// Returns the next batch; empty at the end.
  func take() async throws -> [Document] {
    try await withCheckedThrowingContinuation { continuation in
      let result: Result<[Document], any Error>? = stage.withLock { stage in
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
      guard let result else { return }
      room.signal()
      continuation.resume(with: result)
    }
  }

  /// Waits until the previous batch has been taken; returns false if the consumer has stopped.
  func put(_ batch: [Document]) -> Bool {
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

  /// Ends the stream with an error, which replaces the documents that the consumer has not taken.
  func end(with error: any Error) {
    stage.withLock { stage in
      switch stage {
      case .waiting(let continuation):
        stage = .over
        continuation.resume(throwing: error)
      case .idle, .ready: stage = .last([], error)
      case .last, .over: break
      }
    }
    room.signal()
  }

  /// Ends the stream on behalf of the consumer.
  func stop() {
    stage.withLock { stage in
      if case .waiting(let continuation) = stage { continuation.resume(returning: []) }
      stage = .over
    }
    room.signal()
  }
}
