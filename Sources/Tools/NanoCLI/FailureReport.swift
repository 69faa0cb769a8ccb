// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

/// A failure of the tool itself, as opposed to a ``StoreError``.
struct CommandFailure: Error {
  let message: String
  var status: Int32 = 1
}

/// Query text that does not parse, kept to print a caret below the error position.
struct QueryTextFailure: Error {
  let text: String
  let error: StoreError
}

/// Prints an error to standard error and exits with its status.
enum FailureReport {
  static func exit(with error: any Error) -> Never {
    switch error {
    case is Output.Closed: Foundation.exit(0)
    case let failure as CommandFailure:
      if !failure.message.isEmpty { printError(failure.message) }
      Foundation.exit(failure.status)
    case let failure as UsageFailure: exit(with: failure)
    case let failure as QueryTextFailure:
      printError(sentence(failure.error))
      for line in caretLines(failure) { Diagnostics.print(line) }
      Foundation.exit(1)
    case let error as StoreError where error[.record] != nil:
      printError("\(sentence(ofRecord: error)); nothing was imported")
      Foundation.exit(1)
    case let error as StoreError:
      printError(sentence(error))
      Foundation.exit(1)
    default: exit(withParserError: error)
    }
  }

  /// Uses the layout of ArgumentParser's own messages.
  private static func exit(with failure: UsageFailure) -> Never {
    let path = CommandTree.path(of: failure.command)
    let usage = Nanostore.usageString(for: failure.command)
    printError(TerminalText.text(failure.message))
    Diagnostics.print("Usage: \(usage)\n  See '\(path) --help' for more information.")
    Foundation.exit(Nanostore.exitCode(for: ValidationError("")).rawValue)
  }

  /// Prints ArgumentParser's message, escaped because it repeats arguments verbatim.
  private static func exit(withParserError error: any Error) -> Never {
    let code = Nanostore.exitCode(for: error)
    if code == .success { Nanostore.exit(withError: error) }
    let lines = Nanostore.fullMessage(for: error).split(
      separator: "\n", omittingEmptySubsequences: false)
    for line in lines { Diagnostics.print(TerminalText.text(String(line))) }
    Foundation.exit(code.rawValue)
  }

  private static func printError(_ message: String) {
    Diagnostics.print("\(Nanostore._errorLabel): \(message)")
  }

  /// What the message describes; details that the caller already prints are omitted.
  enum Context { case call, record }

  /// Returns the error as one line: what failed, on what, and what to do.
  ///
  /// Includes all details, since the data belongs to the user of the tool.
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
      case .actual, .text: "found \(value)"
      case .expected: "expected \(value)"
      case .byteOffset: "byte \(value)"
      case .rowID: "row ID \(value)"
      default: "\(name.rawValue) \(value)"
      }
    }
    var sentence = error.message
    if !details.isEmpty { sentence += ": " + details.joined(separator: ", ") }
    if let hint = error[.hint] { sentence += " (\(hint))" }
    return TerminalText.text(sentence)
  }

  /// Returns the error of an input record as one line, preceded by its position in the input.
  static func sentence(ofRecord error: StoreError) -> String {
    let position =
      error[.line].map { "line \($0), byte \(error[.byteOffset] ?? "?")" }
      ?? "row \(error[.record] ?? "?")"
    return "\(position): \(sentence(error, in: .record))"
  }

  /// Returns the line of the text that contains the error, and a line with a caret below the position.
  private static func caretLines(_ failure: QueryTextFailure) -> [String] {
    guard let column = failure.error[.position].flatMap({ Int($0) }) else { return [] }
    let lines = failure.text.split(separator: "\n", omittingEmptySubsequences: false)
    let number = failure.error[.line].flatMap { Int($0) } ?? 1
    guard lines.indices.contains(number - 1) else { return [] }
    let line = lines[number - 1]
    // Escaping changes the width, so the prefix that positions the caret is escaped as well.
    let before = TerminalText.text(String(line.prefix(column - 1)))
    return [
      "  " + TerminalText.text(String(line)),
      "  " + String(repeating: " ", count: DisplayWidth.of(before)) + "^",
    ]
  }
}

/// Messages on standard error, separate from the output.
enum Diagnostics {
  static func print(_ line: String) { write(line + "\n") }

  /// Writes as much as possible and ignores errors; `FileHandle` would trap on a closed pipe.
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
