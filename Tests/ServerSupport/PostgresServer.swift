// SPDX-License-Identifier: MIT

import Foundation

/// A PostgreSQL server in a temporary folder, which goes with it, or with the process however that ends.
///
/// ```swift
/// let server = try #require(PostgresServer.shared)
/// try server.psql("SELECT 1")   // "1"
/// ```
public final class PostgresServer: Sendable {
  /// The databases of each server. Text is ordered by code points in one and by a language in the other.
  public enum Database: String, Sendable, CaseIterable {
    case plain, icu
  }

  /// The server's programs, if they are installed.
  public static var installation: Installation? { Installation.found }

  /// One for all tests of the process, which do not kill it. Nil if no server is installed, or if it did not start:
  /// the reason is written to the standard error.
  public static let shared: PostgresServer? = {
    guard installation != nil else { return nil }
    do {
      let server = try PostgresServer()
      atexit { PostgresServer.shared?.remove() }
      return server
    } catch {
      FileHandle.standardError.write(Data("no PostgreSQL server: \(error)\n".utf8))
      return nil
    }
  }()

  /// Only on 127.0.0.1. The same for as long as the server is there, also while it is stopped.
  public let port: Int
  /// Where the server's socket is, `log`, and what it keeps: `data`.
  public let folder: String

  let installation: Installation
  let user: ServerUser
  private let guardian: Guardian

  var data: String { folder + "/data" }
  var log: String { folder + "/log" }

  /// A new server that has started.
  ///
  /// - Parameter durable: For tests that kill it: what is committed is on the disk. Others are faster without.
  public convenience init(durable: Bool = false) throws {
    try self.init(settings: durable ? [:] : ["fsync": "off", "full_page_writes": "off"]) { server in
      #if canImport(Darwin)
        let locale = "C"
      #else
        let locale = "C.UTF-8"
      #endif
      try server.run(
        "initdb", "-D", server.data, "-E", "UTF8", "--locale=\(locale)", "-A", "trust",
        "-U", "postgres", "--no-sync")
    }
    for database in Database.allCases {
      let locale = database == .icu ? " LOCALE_PROVIDER icu ICU_LOCALE 'en-US'" : ""
      try psql(
        "CREATE DATABASE \(database) TEMPLATE template0\(locale)",
        url: "postgresql://postgres@127.0.0.1:\(port)/postgres")
    }
  }

  /// - Parameter fill: Makes the folder `data`.
  init(settings: [String: String], _ fill: (PostgresServer) throws -> Void) throws {
    guard let installation = Installation.found, let user = ServerUser.current else {
      throw ServerFailure(description: "no PostgreSQL server is installed")
    }
    self.installation = installation
    self.user = user
    folder = try user.makeFolder()
    port = try Loopback.freePort()
    guardian = try Guardian(
      of: folder, ending: Self.ending, [installation.program("pg_ctl")], as: user)
    try fill(self)
    try append(
      settings.merging(
        [
          "port": "\(port)", "listen_addresses": "'127.0.0.1'",
          "unix_socket_directories": "'\(folder)'", "max_connections": "200",
          "max_prepared_transactions": "0", "wal_level": "replica", "max_wal_senders": "10",
        ], uniquingKeysWith: { given, _ in given }))
    try start()
  }

  /// Also of a server that does not answer.
  private static let ending = """
    pid=$(head -n 1 "$1/data/postmaster.pid")
    "$2" -D "$1/data" -m immediate -t 10 stop || { [ -n "$pid" ] && kill -9 "$pid"; }
    """

  /// Stops the server and removes its folder.
  public func remove() { guardian.finish() }

  /// What libpq takes, for a connection by TCP.
  public func url(_ database: Database = .plain) -> String {
    "postgresql://postgres@127.0.0.1:\(port)/\(database)"
  }

  /// The same by the server's socket.
  public func url(socket database: Database) -> String {
    let host = folder.replacing("/", with: "%2F")
    return "postgresql://postgres@\(host):\(port)/\(database)"
  }

  /// Runs statements, each by itself, and answers their rows as lines: columns with `|` between them.
  @discardableResult
  public func psql(_ sql: String, database: Database = .plain) throws -> String {
    try psql(sql, url: url(database))
  }

  /// The same on any URL, such as that of what stands before the server.
  @discardableResult
  public func psql(_ sql: String, url: String) throws -> String {
    let answer = try Program.run(
      [installation.program("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", url], input: sql)
    return answer.hasSuffix("\n") ? String(answer.dropLast()) : answer
  }

  @discardableResult
  func run(_ program: String, _ arguments: String...) throws -> String {
    try Program.run([installation.program(program)] + arguments, as: user)
  }

  /// Writes settings behind those that are there. The last ones count.
  func append(_ settings: [String: String]) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: data + "/postgresql.conf"))
    try file.seekToEnd()
    let lines = settings.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }
    try file.write(contentsOf: Data(("\n" + lines.joined()).utf8))
    try file.close()
  }
}

/// Why a server could not do what was asked.
public struct ServerFailure: Error, CustomStringConvertible {
  public let description: String
}
