// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// An operation that failed for a reason that the store knows nothing of.
struct CommandFailure: Error {
  let message: String
  var status: Int32 = 1
}

/// Query text that cannot be read, with the text to point into.
struct QueryTextFailure: Error {
  let text: String
  let error: StoreError
}

/// Tells the person at the terminal what went wrong, and ends the process with the status for it.
enum FailureReport {
  static func exit(with error: any Error) -> Never {
    switch error {
    case is Output.Closed: Foundation.exit(0)
    case let failure as CommandFailure:
      if !failure.message.isEmpty { say(failure.message) }
      Foundation.exit(failure.status)
    case let failure as UsageFailure: exit(with: failure)
    case let failure as QueryTextFailure:
      say(sentence(failure.error))
      for line in pointer(failure) { Diagnostics.print(line) }
      Foundation.exit(1)
    case let error as StoreError where error[.record] != nil:
      say("\(sentence(ofRecord: error)); nothing was imported")
      Foundation.exit(1)
    case let error as StoreError:
      say(sentence(error))
      Foundation.exit(1)
    default: exit(withErrorOfArguments: error)
    }
  }

  /// In the form of ArgumentParser's own.
  private static func exit(with failure: UsageFailure) -> Never {
    let path = CommandTree.path(of: failure.command)
    let usage = Nanostore.usageString(for: failure.command)
    say(TerminalText.text(failure.message))
    Diagnostics.print("Usage: \(usage)\n  See '\(path) --help' for more information.")
    Foundation.exit(Nanostore.exitCode(for: ValidationError("")).rawValue)
  }

  /// What ArgumentParser says, which repeats arguments as they are.
  private static func exit(withErrorOfArguments error: any Error) -> Never {
    let code = Nanostore.exitCode(for: error)
    if code == .success { Nanostore.exit(withError: error) }
    let lines = Nanostore.fullMessage(for: error).split(
      separator: "\n", omittingEmptySubsequences: false)
    for line in lines { Diagnostics.print(TerminalText.text(String(line))) }
    Foundation.exit(code.rawValue)
  }

  private static func say(_ message: String) {
    Diagnostics.print("\(Nanostore._errorLabel): \(message)")
  }

  /// Where an error stands, so that what is said already is not said twice.
  enum Context { case call, record }

  /// One line: what, where, what to do. All details are shown, as they belong to who asks.
  static func sentence(_ error: StoreError, in context: Context = .call) -> String {
    if CommandLine.arguments.contains("--debug") {
      return TerminalText.text(error.debugDescription)
    }
    let details = error.details.compactMap { name, value -> String? in
      switch name {
      case _ where value.isEmpty: nil
      case .hint, .engineCode, .operation, .position, .line, .record: nil
      case .byteOffset where context == .record, .path where context == .record: nil
      case .engineMessage, .path: value
      case .actual where value == "the end of the text": "found the end of the text"
      case .actual, .text: "found \(value)"
      case .expected: "expected \(value)"
      case .byteOffset: "byte \(value)"
      case .rowID: "row id \(value)"
      default: "\(name.rawValue) \(value)"
      }
    }
    var sentence = error.message
    if !details.isEmpty { sentence += ": " + details.joined(separator: ", ") }
    if let hint = error[.hint] { sentence += " (\(hint))" }
    return TerminalText.text(sentence)
  }

  /// The same of a record of an input, after its place there.
  static func sentence(ofRecord error: StoreError) -> String {
    let place = "line \(error[.line] ?? "?"), byte \(error[.byteOffset] ?? "?")"
    return "\(place): \(sentence(error, in: .record))"
  }

  /// The line of the text with a caret below the place.
  private static func pointer(_ failure: QueryTextFailure) -> [String] {
    guard let column = failure.error[.position].flatMap({ Int($0) }) else { return [] }
    let lines = failure.text.split(separator: "\n", omittingEmptySubsequences: false)
    let number = failure.error[.line].flatMap { Int($0) } ?? 1
    guard lines.indices.contains(number - 1) else { return [] }
    let line = lines[number - 1]
    // What is printed may be wider than it is long: both lines go through the same function.
    let before = TerminalText.text(String(line.prefix(column - 1)))
    return [
      "  " + TerminalText.text(String(line)),
      "  " + String(repeating: " ", count: DisplayWidth.of(before)) + "^",
    ]
  }
}

/// Lines for the person, beside the output that goes to other programs.
enum Diagnostics {
  static func print(_ line: String) { write(line + "\n") }

  /// As far as it can be written: `FileHandle` would end the process if nobody listens.
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let slice = UnsafeBufferPointer(rebasing: rest)
        let written = Foundation.write(STDERR_FILENO, slice.baseAddress, slice.count)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
      }
    }
  }
}
