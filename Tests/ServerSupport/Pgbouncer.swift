// SPDX-License-Identifier: MIT

import Foundation

/// A pgbouncer in front of a server, in transaction mode: each transaction may use a different server session.
public final class Pgbouncer: Sendable {
  public static var isInstalled: Bool { program != nil && ServerUser.current != nil }

  // Debian installs it where only root's search path finds it.
  private static let program = Installation.firstProgram(
    "pgbouncer", in: Installation.pathFolders + ["/usr/sbin", "/usr/local/sbin"])

  public let port: Int
  private let guardian: Guardian

  /// Starts pgbouncer, and returns when it accepts connections.
  ///
  /// - Parameter settings: Settings of the section `pgbouncer` that replace the default ones.
  public init(before server: PostgresServer, settings: [String: String] = [:]) throws {
    guard let program = Self.program, let user = ServerUser.current else {
      throw ServerFailure(description: "pgbouncer is not installed")
    }
    let folder = try user.makeFolder()
    port = try Loopback.freePort()
    let defaults = [
      "listen_addr": "127.0.0.1", "listen_port": "\(port)", "unix_socket_dir": "",
      "auth_type": "any", "pool_mode": "transaction", "max_client_conn": "500",
      "query_wait_timeout": "0", "client_login_timeout": "0", "server_connect_timeout": "600",
      "default_pool_size": "20", "logfile": "\(folder)/log",
      "ignore_startup_parameters": "extra_float_digits",
    ]
    let lines = defaults.merging(settings) { $1 }.sorted { $0.key < $1.key }
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
    // Not as a daemon: the process id of a child cannot be reused before it is waited for.
    guardian = try Guardian(
      of: folder, beginning: "\"$2\" -q \"$1/settings\" & pid=$!",
      ending: "kill -9 \"$pid\"; wait \"$pid\"", [program], as: user)
    let end = ContinuousClock.now + .seconds(900)
    while !Loopback.isOpen(port) {
      guard ContinuousClock.now < end else {
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        throw ServerFailure(description: "pgbouncer did not start: \(log)")
      }
      usleep(5_000)
    }
  }

  /// Returns a libpq URL.
  public func url(_ database: PostgresServer.Database = .plain) -> String {
    "postgresql://postgres@127.0.0.1:\(port)/\(database)"
  }

  /// Stops pgbouncer with its connections and removes its folder. This also happens when the process ends in any way.
  public func stop() { guardian.finish() }
}
