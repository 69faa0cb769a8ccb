// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// The destination of a command that creates a file.
struct NewFileOptions: ParsableArguments {
  @Argument(help: "The file to create.", completion: .file())
  var destination: String

  @Flag(help: "Replace an existing file.")
  var force = false

  /// Runs a closure that creates the file, with its path and whether it may replace an existing file.
  func create<Result>(_ work: (String, Bool) throws -> Result) throws -> Result {
    do { return try work(destination, force) } catch let error as StoreError
      where error.code == .alreadyExists
    {
      throw CommandFailure(
        message: TerminalText.text("\(destination) already exists (--force replaces it)"))
    }
  }
}
