// SPDX-License-Identifier: MIT

package import ArgumentParser

/// The arguments of the sync server, which `nanostore serve` passes on.
package struct ServeOptions: ParsableArguments {
  @Argument(
    help: "The database: a file, which is created if it does not exist, or a postgresql:// URL.",
    completion: .file())
  package var database: String

  @Option(help: "The port; 0 for a free one.")
  package var port = 5984

  @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
  package var host = "127.0.0.1"

  @Option(
    name: .customLong("host-name"),
    help: ArgumentHelp(
      "Without --users, a name of this machine that clients may use; repeat for more.",
      valueName: "name"))
  package var hostNames: [String] = []

  @Option(
    name: .customLong("collection"),
    help: ArgumentHelp("Serve this collection only; repeat for more.", valueName: "name"))
  package var collections: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file with a line name:password, or name:password:role,role, for each user.",
      discussion:
        "The role _admin makes an administrator. A line with * as the name and no password gives access without a login.",
      valueName: "file"), completion: .file())
  package var users: String?

  @Flag(help: "Let other machines read and write without users.")
  package var allowAnonymous = false

  @Flag(help: "Let administrators create and delete databases, which are collections.")
  package var manageDatabases = false

  @Option(
    name: .customLong("origin"),
    help: ArgumentHelp(
      "Let pages of this origin use the server, such as https://app.example.com; * for all; repeat for more.",
      valueName: "origin"))
  package var origins: [String] = []

  @Option(
    help: ArgumentHelp(
      "Encrypt connections with this certificate, in the PEM format.", valueName: "file"),
    completion: .file())
  package var certificate: String?

  @Option(
    help: ArgumentHelp("The key of the certificate, in the PEM format.", valueName: "file"),
    completion: .file())
  package var key: String?

  @Option(
    help: ArgumentHelp(
      "The number of requests per second of a user, or of an address without a user.",
      valueName: "number"))
  package var rateLimit: Double?

  @Flag(help: "Log requests.")
  package var verbose = false

  @Flag(help: .hidden)
  package var debug = false

  package init() {}

  package func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
    guard (certificate == nil) == (key == nil) else {
      throw ValidationError("--certificate and --key belong together")
    }
    guard rateLimit.map({ $0 > 0 }) ?? true else {
      throw ValidationError("--rate-limit has to be above 0")
    }
    guard users == nil || !allowAnonymous else {
      throw ValidationError("--users excludes --allow-anonymous")
    }
    guard users != nil || allowAnonymous || isLocal else {
      throw ValidationError(
        "Other machines can reach \(TerminalText.text(host)): --users is required, or --allow-anonymous if everyone may "
          + "read and write")
    }
  }

  /// Whether the address belongs to the loopback interface, as the server decides it.
  private var isLocal: Bool {
    let name = host.lowercased()
    return ["localhost", "::1", "[::1]"].contains(name) || name.hasPrefix("127.")
  }
}
