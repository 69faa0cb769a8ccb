// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// Damages stores in thousands of ways, and uses what is left.
struct DamageTrial: Trial {
  static let configuration = CommandConfiguration(
    commandName: "damage",
    abstract: "Damages stores in many ways: each is right data or a typed error, found by verify.",
    discussion: """
      Each mutation is found again by its seed and number: --seed 7 --first 4711 --mutations 1 --verbose. \
      They are tried in processes of their own, which may crash or hang without ending the trial.
      """)

  @Option(help: "How many damaged stores to try.")
  var mutations = 20_000

  @Option(help: "The mutations of another seed are other ones.")
  var seed: UInt64 = 1

  @Option(help: "The number of the first mutation.")
  var first = 0

  @Option(help: "Seconds after which no further mutation is begun.")
  var seconds = Double.infinity

  @Option(help: "Processes at a time.")
  var processes = 2

  @Option(help: "Seconds after which one mutation counts as one that hangs.")
  var patience = 60.0

  @Flag(help: "Tell what is done and what becomes of it.")
  var verbose = false

  @Option(help: "Keep the stores in this folder.")
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
    let board = DamageBoard(first: first, end: first + mutations, seconds: seconds)
    DispatchQueue.concurrentPerform(iterations: max(1, processes)) { number in
      do {
        try supervise(folder, number, board)
      } catch {
        board.fail("supervisor: \(error)")
      }
    }
    let failures = board.failures
    try require(
      failures.isEmpty,
      "\(failures.count) of \(mutations) failed:\n"
        + failures.prefix(20).joined(separator: "\n")
        + "\nsee one again: nanostore-stress damage --seed \(seed) --first NUMBER --mutations 1 --verbose"
    )
    return board.figures
  }

  // MARK: the child

  /// Tries one number after the other that the parent sends, and says what became of each.
  private func work(in folder: URL) throws -> Figures {
    DamageLimits.apply()
    let child = DamageChild(
      samples: DamageSamples(folder: folder.deletingLastPathComponent().appending(path: "samples")),
      seed: seed, folder: folder)
    while let line = readLine(), let number = Int(line) {
      let outcome = try child.run(number)
      var said: DocumentObject = [
        "number": .int(Int64(number)), "what": .string(outcome.mutation.description),
        "sample": .string(outcome.mutation.sample.rawValue),
      ]
      said["failures"] = .array(outcome.failures.map { .string($0) })
      said["facts"] = .object(
        DocumentObject(
          outcome.facts.sorted { $0.key < $1.key }.map { ($0.key, .int(Int64($0.value))) }))
      FileHandle.standardOutput.write(Data((said.jsonString() + "\n").utf8))
    }
    return Figures()
  }

  // MARK: the parent

  private func supervise(_ folder: URL, _ number: Int, _ board: DamageBoard) throws {
    let place = folder.appending(path: "child\(number)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    while let next = board.next() {
      let worker = try DamageWorker(seed: seed, folder: place)
      var current: Int? = next
      while let mutation = current {
        guard let said = worker.ask(mutation, patience: patience) else {
          var known = DamageMutation(seed: seed, number: mutation)
          let file = place.appending(path: "again.db").path
          try DamageSamples.copy(
            DamageSamples(folder: folder.appending(path: "samples")).file(known.sample).path,
            to: file)
          try known.apply(to: file)
          board.fail(
            "\(mutation) (\(known.sample), \(known.description)): the process \(worker.end)")
          break
        }
        board.add(said, verbose: verbose)
        current = board.next()
      }
      worker.stop()
    }
  }
}
