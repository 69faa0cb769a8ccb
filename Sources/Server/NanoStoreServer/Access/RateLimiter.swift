// SPDX-License-Identifier: MIT

import Synchronization

/// How many requests a user, or an address without a user, may send.
public struct SyncRateLimit: Sendable, Hashable {
  /// The number of requests per second in the long run.
  public var requestsPerSecond: Double
  /// The number of requests that may come at once.
  public var burst: Int

  /// Creates a limit.
  public init(requestsPerSecond: Double, burst: Int) {
    self.requestsPerSecond = requestsPerSecond
    self.burst = burst
  }
}

/// Counts the requests of clients (token bucket).
final class RateLimiter: Sendable {
  private struct Bucket {
    var tokens: Double
    var time: ContinuousClock.Instant
  }
  private let limit: SyncRateLimit
  private let state = Mutex<[String: Bucket]>([:])

  /// The number of clients at which those that have not sent a request for a while are forgotten. Arbitrary.
  private static let maximumBuckets = 10_000

  /// The number of seconds that a client waits at most, also if the limit is 0. Arbitrary.
  private static let maximumWait = 3_600.0

  init(_ limit: SyncRateLimit) { self.limit = limit }

  /// Counts a request.
  ///
  /// - Returns: The seconds after which the client may try again; nil if the request is within the limit.
  func secondsToWait(_ client: String, now: ContinuousClock.Instant = .now) -> Int? {
    state.withLock { buckets in
      if buckets.count >= Self.maximumBuckets {
        buckets = buckets.filter { self.tokens($0.value, now) < Double(limit.burst) }
        // A client with many addresses would fill the memory.
        if buckets.count >= Self.maximumBuckets / 2 { buckets.removeAll() }
      }
      let bucket = buckets[client] ?? Bucket(tokens: Double(limit.burst), time: now)
      let tokens = self.tokens(bucket, now)
      guard tokens >= 1 else {
        buckets[client] = Bucket(tokens: tokens, time: now)
        let seconds = ((1 - tokens) / limit.requestsPerSecond).rounded(.up)
        return seconds < Self.maximumWait ? max(1, Int(seconds)) : Int(Self.maximumWait)
      }
      buckets[client] = Bucket(tokens: tokens - 1, time: now)
      return nil
    }
  }

  /// Takes back the count of a request that another client turned out to have sent.
  func discount(_ client: String) {
    state.withLock { buckets in
      guard var bucket = buckets[client] else { return }
      bucket.tokens = min(Double(limit.burst), bucket.tokens + 1)
      buckets[client] = bucket
    }
  }

  /// The number of clients that are remembered.
  var clients: Int { state.withLock { $0.count } }

  private func tokens(_ bucket: Bucket, _ now: ContinuousClock.Instant) -> Double {
    let seconds = (now - bucket.time) / .seconds(1)
    return min(Double(limit.burst), bucket.tokens + seconds * limit.requestsPerSecond)
  }
}
