// SPDX-License-Identifier: MIT

import Foundation

/// Pgbouncer before a server, in transaction mode: each transaction may get another of the server's sessions.
public final class Pgbouncer: Sendable {
  public static var isInstalled: Bool { program != nil && ServerUser.current != nil }

  // Debian puts it where only root looks.
  private static let program = Installation.firstProgram(
    "pgbouncer", in: Installation.pathFolders + ["/usr/sbin", "/usr/local/sbin"])

  public let port: Int
  private let guardian: Guardian

  /// Starts it, and returns when it answers.
  ///
  /// - Parameter settings: Of the section `pgbouncer`, in place of ours.
  public init(before server: PostgresServer, settings: [String: String] = [:]) throws {
    guard let program = Self.program, let user = ServerUser.current else {
      throw ServerFailure(description: "pgbouncer is not installed")
    }
    let folder = try user.makeFolder()
    port = try Loopback.freePort()
    let ours = [
      "listen_addr": "127.0.0.1", "listen_port": "\(port)", "unix_socket_dir": "",
      "auth_type": "any", "pool_mode": "transaction", "max_client_conn": "500",
      "default_pool_size": "20", "logfile": "\(folder)/log",
      "ignore_startup_parameters": "extra_float_digits",
    ]
    let lines = ours.merging(settings) { $1 }.sorted { $0.key < $1.key }
      .map { "\($0.key) = \($0.value)" }
    let file = folder + "/settings"
    try Data(
      """
      [databases]
      * = host=127.0.0.1 port=\(server.port) user=postgres
      [pgbouncer]
      \(lines.joined(separator: "\n"))

      """.utf8
    ).write(to: URL(filePath: file))
    try user.own(file)
    // Not as a daemon: as a child it is ended by a number that is certainly its own.
    guardian = try Guardian(
      of: folder, beginning: "\"$2\" -q \"$1/settings\" & pid=$!",
      ending: "kill -9 \"$pid\"; wait \"$pid\"", [program], as: user)
    let end = ContinuousClock.now + .seconds(60)
    while !Loopback.isOpen(port) {
      guard ContinuousClock.now < end else {
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        throw ServerFailure(description: "pgbouncer does not start: \(log)")
      }
      usleep(5_000)
    }
  }

  /// What libpq takes.
  public func url(_ database: PostgresServer.Database = .plain) -> String {
    "postgresql://postgres@127.0.0.1:\(port)/\(database)"
  }

  /// Ends it with its connections, and removes its folder. It also ends with the process, however that ends.
  public func stop() { guardian.finish() }
}
