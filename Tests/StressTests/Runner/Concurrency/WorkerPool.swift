// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTesting
import Synchronization

/// The tasks of one process, which share two stores on one file.
final class WorkerPool: Sendable {
  /// Longer than any successful wait.
  static let busyTimeout = Duration.seconds(10)
  /// The maximum duration of a call, in seconds. After that, it counts as stuck.
  private static let longest = 600.0

  let process: Int
  let folder: String
  let stores: [Store]
  let log: EventLog
  /// Shared by all tasks, which save it concurrently.
  let bag: Bag
  private let tasks: Int
  private let seed: UInt64
  private let end: ContinuousClock.Instant
  private let counts = Mutex<[String: Int]>([:])
  private let failure = Mutex<(any Error)?>(nil)
  /// The current activity of each task, and its start.
  private let activities: Mutex<[(name: String, since: ContinuousClock.Instant)]>

  init(_ process: Int, in folder: String, _ tasks: Int, _ seconds: Double, _ seed: UInt64) throws {
    self.process = process
    self.folder = folder
    self.tasks = tasks
    self.seed = seed
    end = .now + .seconds(seconds)
    activities = Mutex(Array(repeating: ("beginning", .now), count: tasks))
    stores = try [0, 1].map { number in
      var configuration = Store.Configuration()
      configuration.documentCacheSize = number == 0 ? nil : 50
      return try Store(
        .file(SharedFile(folder: folder).file), configuration: configuration,
        engine: SharedFile.engine)
    }
    bag = try stores[0].bag(named: SharedFile.bag)
    log = EventLog()
  }

  var goesOn: Bool { ContinuousClock.now < end }

  func count(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

  func begin(_ activity: String, _ task: Int) {
    activities.withLock { $0[task] = (activity, .now) }
  }

  func run() throws -> Figures {
    watch()
    let done = DispatchSemaphore(value: 0)
    Task.detached { [self] in
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<tasks { group.addTask { await self.runTask(number) } }
      }
      done.signal()
    }
    done.wait()
    for store in stores { try store.close() }
    try log.write(to: SharedFile(folder: folder).events(process))
    if let error = failure.withLock({ $0 }) { throw error }
    var figures = Figures()
    for name in Worker.Activity.allCases.map(\.rawValue) + ["refused"] {
      figures[name] = counts.withLock { $0[name] ?? 0 }
    }
    return figures
  }

  private func runTask(_ number: Int) async {
    var worker = Worker(self, number, SplitMix(seed: seed &+ UInt64(number) &* 7_919))
    do {
      try await worker.run()
    } catch {
      note("process \(process), task \(number), \(worker.activity): \(described(error))")
      failure.withLock { $0 = $0 ?? error }
    }
  }

  private func described(_ error: any Error) -> String {
    (error as? StoreError)?.debugDescription ?? "\(error)"
  }

  /// Ends the process if a call does not return, because a deadlock would last forever.
  private func watch() {
    let thread = Thread { [self] in
      while true {
        Thread.sleep(forTimeInterval: 1)
        let now = ContinuousClock.now
        let stuck = activities.withLock { activities in
          activities.first { $0.name != "finished" && now - $0.since > .seconds(Self.longest) }
        }
        guard let stuck else { continue }
        note("process \(process) is stuck in \(stuck.name)")
        _exit(3)
      }
    }
    thread.start()
  }
}
