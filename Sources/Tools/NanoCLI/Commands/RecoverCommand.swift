// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

struct RecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Recover the readable documents of a damaged database into a new one.",
    discussion: """
      The damaged file is never modified. Prints what was lost; the exit status is 1 if anything \
      was, although the new database was created.
      """)

  @OptionGroup var database: DatabaseOptions

  @OptionGroup var new: NewFileOptions

  func run() throws {
    let line = ProgressLine()
    let report = try recover(line)
    line.clear()
    try Output.run { try Self.write(report, to: $0) }
    guard report.isComplete else {
      throw CommandFailure(
        message: TerminalText.text(
          "Some data could not be recovered; \(new.destination) contains what is listed above"))
    }
  }

  private func recover(_ line: ProgressLine) throws -> RecoveryReport {
    defer { line.clear() }
    guard StoreLocation.isFile(database.database) else {
      throw ValidationError("recover requires a file")
    }
    guard StoreLocation.exists(database.database) else {
      throw CommandFailure(message: TerminalText.text("There is no file at \(database.database)"))
    }
    return try new.create {
      try Store.recover(from: database.database, to: $0, replacing: $1) { line.show($0, "read") }
    }
  }

  private static func write(_ report: RecoveryReport, to output: Output) throws {
    for collection in report.collections {
      let skipped = collection.skipped == 0 ? "" : ", \(collection.skipped) skipped"
      try output.line(
        TerminalText.text(collection.name) + ": \(Quantity.documents(collection.saved)) saved"
          + skipped)
    }
    for skipped in report.skipped {
      let key = skipped.key.map { " (\($0))" } ?? ""
      try output.line(
        TerminalText.text(
          "skipped: \(skipped.collection), document \(skipped.rowID)\(key): \(skipped.reason)"))
    }
    for loss in report.losses {
      try output.line(TerminalText.text("lost: \(loss.subject): \(loss.message)"))
    }
  }
}
