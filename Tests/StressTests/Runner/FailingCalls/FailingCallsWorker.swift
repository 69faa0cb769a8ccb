// SPDX-License-Identifier: MIT

import ArgumentParser
import CFaults
import Foundation
import NanoStoreEncryption
import NanoTesting

/// Tests one fault in one store configuration, at one call after the other.
struct FailingCallsWorker: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "failing-calls-worker", shouldDisplay: false)

  @Option var variant: FaultVariant
  @Option var fault: Fault
  @Option var places = 0
  @Option var seed: UInt64 = 1
  @Option(help: "Tests only this call.")
  var only: Int?

  func run() throws {
    let folder = try StressTestFolder("faults")
    // SQLite uses the resolved path.
    let path = URL(filePath: folder.path).resolvingSymlinksInPath().path
    faults_watch(path)
    let base = try Data(contentsOf: base(in: folder))
    try folder.empty()

    var codes: [String: Int] = [:]
    var struck = 0
    let count = try attempt(Int(Int64.max), in: folder, path, base).calls
    say("calls \(count)")
    for place in chosen(count) {
      say("at \(place)")
      alarm(120)
      do {
        let result = try attempt(place, in: folder, path, base)
        for code in result.codes { codes[code.rawValue, default: 0] += 1 }
        if result.struck > 0 { struck += 1 }
      } catch {
        folder.keep()
        say("found \(error); the file is in \(folder.path)")
        throw ExitCode.failure
      }
    }
    say("faults \(struck)")
    for (code, count) in codes.sorted(by: { $0.key < $1.key }) { say("errors.\(code) \(count)") }
  }

  private func chosen(_ count: Int) -> [Int] {
    if let only { return [only] }
    guard places > 0, places < count else { return Array(0..<count) }
    var random = SplitMix(seed: seed)
    return (0..<places).map { _ in random.number(0...count - 1) }
  }

  /// Creates a store with contents, which is copied for each attempt.
  private func base(in folder: StressTestFolder) throws -> URL {
    try FaultWorkload.prepare(open(folder.file("base.db")), variant)
    return URL(filePath: folder.file("base.db"))
  }

  private func open(_ path: String) throws -> Store {
    guard variant == .encrypted else {
      return try Store(.file(path), configuration: variant.configuration, engine: variant.engine)
    }
    return try Store(
      .file(path), configuration: variant.configuration, engine: variant.engine,
      encryption: Encryption(.key(Data(repeating: 7, count: 32))))
  }

  private func attempt(
    _ place: Int, in folder: StressTestFolder, _ path: String, _ base: Data
  ) throws -> (calls: Int, struck: Int, codes: [StoreError.Code]) {
    try folder.empty()
    faults_watch(path)
    try base.write(to: URL(filePath: path + "/a.db"))
    var workload = FaultWorkload(path: path, variant: variant, fault: fault) { try open($0) }
    faults_arm(fault.kinds, Int64(place), fault.error, fault.goesOn)
    defer { faults_disarm() }
    do { try workload.run() } catch { throw StressTestFailure("\(error)") }
    let calls = Int(faults_disarm())
    let struck = Int(faults_struck())
    try workload.checkAfterwards()
    try require(faults_open_files() == 0, "\(faults_open_files()) files are still open")
    try PlainCheck.check(path + "/a.db")
    return (calls, struck, workload.codes)
  }
}
