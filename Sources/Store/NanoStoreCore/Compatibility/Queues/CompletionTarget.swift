// SPDX-License-Identifier: MIT

public import Dispatch
import Foundation

/// The context in which the completion of a queued call runs.
public struct CompletionTarget: Sendable {
  enum Kind: Sendable {
    case automatic, inLine
    case elsewhere(@Sendable (@escaping @Sendable () -> Void) -> Void)
  }
  let kind: Kind

  /// The main queue or a global queue, depending on the caller.
  ///
  /// The main queue is used if the call was made on it or on the main thread.
  public static let automatic = CompletionTarget(kind: .automatic)

  /// The queue of the collection, before its next call. The completion may use the store, in order
  /// with other calls.
  public static let inLine = CompletionTarget(kind: .inLine)

  /// A dispatch queue.
  public static func queue(_ queue: DispatchQueue) -> CompletionTarget {
    .calling { queue.async(execute: $0) }
  }

  /// A task that prefers this executor.
  public static func executor(_ executor: any TaskExecutor) -> CompletionTarget {
    .calling { completion in _ = Task(executorPreference: executor) { completion() } }
  }

  /// A custom context: a closure that runs the completion. The closure is called on the queue of
  /// the collection and should return immediately.
  public static func calling(
    _ run: @escaping @Sendable (_ completion: @escaping @Sendable () -> Void) -> Void
  ) -> CompletionTarget {
    CompletionTarget(kind: .elsewhere(run))
  }

  /// The same target, with ``automatic`` resolved for the calling thread.
  func decided() -> CompletionTarget {
    guard case .automatic = kind else { return self }
    return .queue(Self.isOnMain ? .main : .global())
  }

  private static var isOnMain: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) == true
  }
  /// On Linux, the main queue of a program with an asynchronous `main` runs on a different thread.
  private static let mainKey = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  func run(_ completion: @escaping @Sendable () -> Void) {
    switch kind {
    case .inLine: completion()
    case .elsewhere(let run): run(completion)
    case .automatic: DispatchQueue.global().async(execute: completion)
    }
  }
}
