// SPDX-License-Identifier: MIT

import ArgumentParser

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve a store to other stores, CouchDB and PouchDB, which synchronize with it.",
    discussion: """
      Serves collections as databases of the CouchDB replication protocol until interrupted. Unless --host is given, \
      the server accepts connections from this machine only; for other machines, it requires --users or \
      --allow-anonymous. Runs nanostore-server, a program of its own, so that this one stays small.
      """)

  @OptionGroup var options: ServeOptions

  func run() throws { try SiblingProgram.run("nanostore-server") }
}
