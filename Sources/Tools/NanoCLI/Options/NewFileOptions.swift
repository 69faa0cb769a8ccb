// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// A file that a command makes.
struct NewFileOptions: ParsableArguments {
  @Argument(help: "The file to make.", completion: .file())
  var destination: String

  @Flag(help: "Replace a file that is there.")
  var force = false

  /// Runs what makes the file, with its path and whether it may replace another one.
  func make<Result>(_ work: (String, Bool) throws -> Result) throws -> Result {
    do { return try work(destination, force) } catch let error as StoreError
      where error.code == .alreadyExists
    {
      throw CommandFailure(
        message: TerminalText.text("\(destination) is there already (--force replaces it)"))
    }
  }
}
