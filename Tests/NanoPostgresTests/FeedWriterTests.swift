// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import NanoStorePostgres
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@Suite("Change feeds with many writers", .postgres, .timeLimit(.minutes(10)))
struct FeedWriterTests {
  @Test(
    "With 16 writers, delays before commits, and kills, a reader that resumes at random misses nothing"
  )
  func manyWriters() async throws {
    try await Faults.onThread {
      let configuration = Faults.configuration { $0.maximumConnections = 20 }
      let store = try TestDatabase.store(configuration)
      defer { try? store.close() }
      let films = store["films"]
      try films.setChangeTracking(.on)
      let each = 40 * Faults.rounds
      let running = Atomic(16)
      let seed = Faults.seed
      let hasRead = Atomic(false)
      Faults.inThreads(18) { thread in
        var random = SplitMix(seed: seed &+ UInt64(thread))
        do {
          if thread == 16 {
            try kill(
              store, configuration.schema, while: { running.load(ordering: .relaxed) > 0 }, &random)
          } else if thread == 17 {
            try read(films, while: { running.load(ordering: .relaxed) > 0 }, &random)
            hasRead.store(true, ordering: .relaxed)
          } else {
            for number in 0..<each { write(store, Int64(thread * each + number), &random) }
            running.subtract(1, ordering: .relaxed)
          }
        } catch {
          Issue.record(error, "seed \(seed)")
        }
      }
      let isRead = hasRead.load(ordering: .relaxed)
      #expect(isRead)
    }
  }

  /// Writes some documents in one transaction, which may be killed.
  private func write(_ store: Store, _ number: Int64, _ random: inout SplitMix) {
    let keys = (0..<random.number(1...3)).map { _ in "\(random.number(0...30))" }.sorted()
    let (deletes, delay) = (random.oneIn(4), random.number(0...8))
    do {
      try store.write(retries: 5) {
        for key in keys {
          if deletes {
            try store["films"].delete(key)
          } else {
            try store["films"].save(["n": .int(number)], key: key)
          }
        }
        usleep(UInt32(delay * 500))
      }
    } catch let error as StoreError
      where error.isRetryable || error.code == .outcomeUnknown
    {
      // The stored documents tell.
    } catch {
      Issue.record(error)
    }
  }

  private func kill(
    _ store: Store, _ schema: String, while isRunning: () -> Bool, _ random: inout SplitMix
  ) throws {
    while isRunning() {
      usleep(UInt32(random.number(5...30)) * 1_000)
      try Faults.server().psql(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%"\(schema)"%' \
        AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1
        """)
    }
  }

  /// Follows the feed with new followers that continue at saved positions.
  private func read(
    _ films: DocumentCollection, while isRunning: () -> Bool, _ random: inout SplitMix
  ) throws {
    var followers = (0..<3).map { _ in Follower() }
    var isLast = false
    while !isLast {
      isLast = !isRunning()
      let follower = followers.randomElement(using: &random) ?? followers[0]
      do { try follower.catchUp(films, limit: random.number(1...50)) } catch let error as StoreError
        where error.isRetryable
      {
        isLast = false
      }
    }
    for follower in followers {
      try follower.follow(films)
      #expect(follower.resets.isEmpty)
    }
    followers = []
  }
}
