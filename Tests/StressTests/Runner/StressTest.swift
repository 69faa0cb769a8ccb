// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// One kind of stress test.
///
/// Its command ends with a line of JSON with the figures, or fails with the problem and how to reproduce it.
protocol StressTest: ParsableCommand {
  /// - Throws: ``StressTestFailure`` if an expectation fails.
  func perform() throws -> Figures
}

extension StressTest {
  func run() throws {
    let figures = try perform()
    let name = Self.configuration.commandName ?? Self._commandName
    print(DocumentObject([("trial", .string(name))] + figures.values).jsonString())
  }
}

/// The figures of a stress test, in output order.
struct Figures {
  private(set) var values: [(String, DocumentValue)] = []

  subscript(name: String) -> Int {
    get { values.first { $0.0 == name }.flatMap { $0.1.int }.map { Int($0) } ?? 0 }
    set { record(name, .int(Int64(newValue))) }
  }

  mutating func record(_ name: String, _ value: DocumentValue) {
    if let place = values.firstIndex(where: { $0.0 == name }) {
      values[place].1 = value
    } else {
      values.append((name, value))
    }
  }
}

/// A failed expectation.
struct StressTestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws a ``StressTestFailure`` if the condition is false.
func require(_ holds: Bool, _ message: @autoclosure () throws -> String) throws {
  guard holds else { throw StressTestFailure(try message()) }
}

/// Writes a progress line to standard error.
func note(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
