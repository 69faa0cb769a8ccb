// SPDX-License-Identifier: MIT

import ArgumentParser
import CFaults
import Foundation
import NanoStore
import NanoTesting

/// Makes each system call fail in turn.
struct FailingCallsStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "failing-calls",
    abstract: "Makes the n-th write, sync, open, … fail, for every n of a workload.")

  @Option(help: "The number of calls to test for each fault, selected by the seed; 0 for all.")
  var places = 0
  @Option var seed: UInt64 = 1
  @Option(help: "Tests only this fault.")
  var fault: Fault?
  @Option(help: "Tests only this store configuration.")
  var variant: FaultVariant?
  @Option(help: "Starts no further fault after this number of seconds.")
  var seconds = 3_000.0

  func perform() throws -> Figures {
    try require(faults_available(), "fault injection is available only on Linux")
    var figures = Figures()
    // Present and first, whichever faults run.
    for name in ["calls", "faults", "kinds of faults"] { figures[name] = 0 }
    var leftOut: [String] = []
    let start = ContinuousClock.now
    // Variants inside, so that the end of the time affects all of them alike.
    for fault in fault.map({ [$0] }) ?? Fault.all {
      var without: [FaultVariant] = []
      for variant in variant.map({ [$0] }) ?? FaultVariant.allCases {
        guard ContinuousClock.now - start < .seconds(seconds) else {
          without.append(variant)
          continue
        }
        try run(variant, fault, &figures)
        figures["kinds of faults"] += 1
      }
      guard !without.isEmpty else { continue }
      leftOut.append("\(fault.name) (\(without.map(\.rawValue).joined(separator: ", ")))")
    }
    let list = leftOut.isEmpty ? "none" : leftOut.joined(separator: ", ")
    figures.record("kinds left out at the end of the time", .string(list))
    if !leftOut.isEmpty { note("left out at the end of the time: \(list)") }
    return figures
  }

  /// Runs a worker process for one kind of fault, because a fault may end the process. The fault must strike.
  private func run(_ variant: FaultVariant, _ fault: Fault, _ figures: inout Figures) throws {
    let process = try KilledProcess(
      "nanostore-stress",
      [
        "failing-calls-worker", "--variant", variant.rawValue, "--fault", fault.name,
        "--places", "\(places)", "--seed", "\(seed)",
      ])
    var place = "the beginning"
    var found: String?
    let struckBefore = figures["faults"]
    while let line = process.line() {
      let words = line.split(separator: " ", maxSplits: 1).map { String($0) }
      guard words.count == 2 else { continue }
      switch words[0] {
      case "at": place = words[1]
      case "found": found = words[1]
      default: figures[words[0]] += Int(words[1]) ?? 0
      }
    }
    let status = process.end()
    let again =
      "failing-calls-worker --variant \(variant.rawValue) --fault \(fault.name) --only \(place)"
    if let found { throw StressTestFailure("\(found) (reproduce with: \(again))") }
    try require(status == 0, "the process ended with \(status) (reproduce with: \(again))")
    try require(
      figures["faults"] > struckBefore, "no call failed with \(fault.name) in \(variant.rawValue)")
    note("\(variant.rawValue) \(fault.name): up to place \(place)")
  }
}

/// A fault: the calls that fail, and the error.
struct Fault: ExpressibleByArgument {
  let name: String
  let kinds: UInt32
  let error: Int32
  /// Whether all later calls fail too.
  let goesOn: Bool

  init(_ call: String, _ kind: Int, _ error: Int32, _ errorName: String, goesOn: Bool) {
    name = "\(call)-\(errorName)-\(goesOn ? "on" : "once")"
    kinds = UInt32(kind)
    self.error = error
    self.goesOn = goesOn
  }

  init?(argument: String) {
    guard let fault = Self.all.first(where: { $0.name == argument }) else { return nil }
    self = fault
  }

  static let all: [Fault] = [
    ("write", FAULTS_WRITE, EIO, "io"), ("write", FAULTS_WRITE, ENOSPC, "full"),
    ("sync", FAULTS_SYNC, EIO, "io"), ("sync", FAULTS_SYNC, ENOSPC, "full"),
    ("open", FAULTS_OPEN, EIO, "io"), ("open", FAULTS_OPEN, EMFILE, "files"),
    ("open", FAULTS_OPEN, ENOMEM, "memory"), ("open", FAULTS_OPEN, ENOSPC, "full"),
    ("read", FAULTS_READ, EIO, "io"), ("truncate", FAULTS_TRUNCATE, EIO, "io"),
    ("truncate", FAULTS_TRUNCATE, ENOSPC, "full"), ("map", FAULTS_MAP, ENOMEM, "memory"),
    ("unlink", FAULTS_UNLINK, EIO, "io"), ("rename", FAULTS_RENAME, EIO, "io"),
    ("allocate", FAULTS_ALLOCATE, ENOMEM, "memory"),
  ].flatMap { call, kind, error, name in
    [false, true].map { Fault(call, Int(kind), error, name, goesOn: $0) }
  }
}

/// The configurations of the tested stores.
enum FaultVariant: String, CaseIterable, ExpressibleByArgument {
  case wal, full, journal, encrypted

  var configuration: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.indexTuning = .off
    return configuration
  }

  var engine: SQLiteConfiguration {
    var engine = SQLiteConfiguration()
    engine.busyTimeout = .seconds(0.05)
    // Small, so that pages are also written before the commit.
    engine.pageCacheSize = 40 << 10
    engine.durability = self == .wal ? .normal : .full
    if self == .journal { engine.journalMode = .delete }
    return engine
  }
}
