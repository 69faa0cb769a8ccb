// SPDX-License-Identifier: MIT

import ArgumentParser

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show a store in the browser while other programs use it.",
    discussion: """
      Prints a URL with a random token and serves it until interrupted. Unless --write is given, the store is opened \
      read-only; unless --host is given, the server accepts connections from this machine only. Runs \
      nanostore-inspector, a program of its own, so that this one stays small.
      """)

  @OptionGroup var options: InspectOptions

  func run() throws { try SiblingProgram.run("nanostore-inspector") }
}
