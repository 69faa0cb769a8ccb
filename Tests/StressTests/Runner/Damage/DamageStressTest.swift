// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Damages stores in thousands of ways, and uses them.
struct DamageStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "damage",
    abstract:
      "Damages stores in many ways, and checks that each returns correct data or a typed error.",
    discussion: """
      Reproduce a mutation by its seed and number: --seed 7 --first 4711 --mutations 1 --verbose. \
      Mutations run in child processes, which may crash or hang without ending the stress test.
      """)

  @Option(help: "The number of damaged stores.")
  var mutations = 20_000

  @Option(help: "The seed of the mutations.")
  var seed: UInt64 = 1

  @Option(help: "The number of the first mutation.")
  var first = 0

  @Option(help: "Starts no further mutation after this number of seconds.")
  var seconds = Double.infinity

  @Option(help: "The number of concurrent processes.")
  var processes = 2

  @Option(help: "The number of seconds after which a mutation counts as hanging.")
  var patience = 60.0

  @Flag(help: "Prints each mutation and its result.")
  var verbose = false

  @Option(help: "Keeps the stores in this folder.")
  var keep: String?

  @Option(help: .hidden)
  var child: String?

  func perform() throws -> Figures {
    if let child { return try work(in: URL(filePath: child)) }
    let folder =
      keep.map { URL(filePath: $0) }
      ?? FileManager.default.temporaryDirectory
      .appending(path: "nanostore-damage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { if keep == nil { try? FileManager.default.removeItem(at: folder) } }
    try DamageSamples(folder: folder.appending(path: "samples")).make()
    let progress = DamageProgress(first: first, end: first + mutations, seconds: seconds)
    DispatchQueue.concurrentPerform(iterations: max(1, processes)) { number in
      do {
        try supervise(folder, number, progress)
      } catch {
        progress.fail("supervisor: \(error)")
      }
    }
    let failures = progress.failures
    try require(
      failures.isEmpty,
      "\(failures.count) of \(mutations) failed:\n"
        + failures.prefix(20).joined(separator: "\n")
        + "\nreproduce one with: nanostore-stress damage --seed \(seed) --first NUMBER --mutations 1 --verbose"
    )
    return progress.figures
  }

  // MARK: Child process

  /// Tests the mutations whose numbers the parent sends, and reports each result.
  private func work(in folder: URL) throws -> Figures {
    DamageLimits.apply()
    let child = DamageChild(
      samples: DamageSamples(folder: folder.deletingLastPathComponent().appending(path: "samples")),
      seed: seed, folder: folder)
    while let line = readLine(), let number = Int(line) {
      let outcome = try child.run(number)
      var report: DocumentObject = [
        "number": .int(Int64(number)), "what": .string(outcome.mutation.description),
        "sample": .string(outcome.mutation.sample.rawValue),
      ]
      report["failures"] = .array(outcome.failures.map { .string($0) })
      report["facts"] = .object(
        DocumentObject(
          outcome.facts.sorted { $0.key < $1.key }.map { ($0.key, .int(Int64($0.value))) }))
      FileHandle.standardOutput.write(Data((report.jsonString() + "\n").utf8))
    }
    return Figures()
  }

  // MARK: Parent process

  private func supervise(_ folder: URL, _ number: Int, _ progress: DamageProgress) throws {
    let place = folder.appending(path: "child\(number)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    while let next = progress.next() {
      let worker = try DamageWorker(seed: seed, folder: place)
      var current: Int? = next
      while let mutation = current {
        guard let report = worker.ask(mutation, patience: patience) else {
          var known = DamageMutation(seed: seed, number: mutation)
          let file = place.appending(path: "again.db").path
          try DamageSamples.copy(
            DamageSamples(folder: folder.appending(path: "samples")).file(known.sample).path,
            to: file)
          try known.apply(to: file)
          progress.fail(
            "\(mutation) (\(known.sample), \(known.description)): the process \(worker.end)")
          break
        }
        progress.add(report, verbose: verbose)
        current = progress.next()
      }
      worker.stop()
    }
  }
}
