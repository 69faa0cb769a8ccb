// SPDX-License-Identifier: MIT

public import Dispatch
import Foundation

/// Where the completion of a queued call runs.
public struct CompletionTarget: Sendable {
  enum Kind: Sendable {
    case automatic, inLine
    case elsewhere(@Sendable (@escaping @Sendable () -> Void) -> Void)
  }
  let kind: Kind

  /// On the main queue if the call was made on it or on the main thread, else on a global queue.
  public static let automatic = CompletionTarget(kind: .automatic)

  /// In the turn of the call, before the next one on the collection: it may use the store, and what
  /// it does is in order.
  public static let inLine = CompletionTarget(kind: .inLine)

  /// On a queue of yours.
  public static func queue(_ queue: DispatchQueue) -> CompletionTarget {
    .calling { queue.async(execute: $0) }
  }

  /// In a task that prefers this executor.
  public static func executor(_ executor: any TaskExecutor) -> CompletionTarget {
    .calling { completion in _ = Task(executorPreference: executor) { completion() } }
  }

  /// Wherever your closure runs what it is given. It is called in the turn of the call, and should
  /// return at once.
  public static func calling(
    _ run: @escaping @Sendable (_ completion: @escaping @Sendable () -> Void) -> Void
  ) -> CompletionTarget {
    CompletionTarget(kind: .elsewhere(run))
  }

  /// The same place, with what depends on the calling thread decided.
  func decided() -> CompletionTarget {
    guard case .automatic = kind else { return self }
    return .queue(Self.isOnMain ? .main : .global())
  }

  private static var isOnMain: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) == true
  }
  /// On Linux the main queue of a program with an asynchronous `main` has another thread.
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
