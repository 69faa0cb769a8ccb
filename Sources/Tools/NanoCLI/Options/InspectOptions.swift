// SPDX-License-Identifier: MIT

package import ArgumentParser

/// The arguments of the inspector, which `nanostore inspect` passes on.
package struct InspectOptions: ParsableArguments {
  @Argument(help: "The database: a file, or a postgresql:// URL.", completion: .file())
  package var database: String

  @Flag(help: "Allow editing documents and indexes, importing files, and compacting the store.")
  package var write = false

  @Flag(help: "Open the URL in the browser.")
  package var open = false

  @Option(help: "The port; a free one by default.")
  package var port = 0

  @Option(
    help: ArgumentHelp(
      "The address to listen on.",
      discussion:
        "Anyone who can reach it and has the URL can read the store; the connection is not encrypted.",
      valueName: "address"))
  package var host = "127.0.0.1"

  @Option(
    name: .customLong("host-name"),
    help: ArgumentHelp(
      "A name by which browsers on other machines reach this one; repeat for more.",
      valueName: "name"))
  package var hostNames: [String] = []

  @Option(
    help: ArgumentHelp(
      "The token in the URL, so that bookmarks keep working; random by default.",
      valueName: "text"))
  package var token: String?

  @Option(help: ArgumentHelp("Cancel queries after this time.", valueName: "milliseconds"))
  package var timeLimit = 1_000

  @Flag(
    help:
      "Read the file without locks; only for a file that no program modifies, as on read-only media."
  )
  package var immutable = false

  @Flag(help: .hidden)
  package var debug = false

  /// A folder with the pages, for their development.
  @Option(help: .hidden, completion: .directory)
  package var pages: String?

  /// A day in milliseconds; arbitrary.
  private static let maximumTimeLimit = 86_400_000

  package init() {}

  package func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
    guard (1...Self.maximumTimeLimit).contains(timeLimit) else {
      throw ValidationError("--time-limit is 1 to \(Self.maximumTimeLimit)")
    }
    guard !write || !immutable else { throw ValidationError("--immutable excludes --write") }
    guard !immutable || StoreLocation.isFile(database) else {
      throw ValidationError("--immutable requires a file")
    }
  }
}
