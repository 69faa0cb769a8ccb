// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// One kind of trial.
///
/// Its command prints a line of JSON with the figures at the end, and fails with what went wrong and how to see
/// it again.
protocol Trial: ParsableCommand {
  /// - Throws: ``TrialFailure`` when a promise was not kept.
  func perform() throws -> Figures
}

extension Trial {
  func run() throws {
    let figures = try perform()
    let name = Self.configuration.commandName ?? Self._commandName
    print(DocumentObject([("trial", .string(name))] + figures.values).jsonString())
  }
}

/// What a trial counted, in the order in which it is told.
struct Figures {
  private(set) var values: [(String, DocumentValue)] = []

  subscript(name: String) -> Int {
    get { values.first { $0.0 == name }.flatMap { $0.1.int }.map { Int($0) } ?? 0 }
    set {
      let value = DocumentValue.int(Int64(newValue))
      if let place = values.firstIndex(where: { $0.0 == name }) {
        values[place].1 = value
      } else {
        values.append((name, value))
      }
    }
  }
}

/// A promise that was not kept.
struct TrialFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Stops the trial with a sentence unless a condition holds.
func require(_ holds: Bool, _ sentence: @autoclosure () throws -> String) throws {
  guard holds else { throw TrialFailure(try sentence()) }
}

/// A line for whoever watches a long trial.
func note(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
