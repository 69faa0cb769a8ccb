// SPDX-License-Identifier: MIT

import Foundation

/// A PostgreSQL server in a temporary folder, which is removed with this object or when the process ends in any way.
///
/// ```swift
/// let server = try #require(PostgresServer.shared)
/// try server.psql("SELECT 1")   // "1"
/// ```
public final class PostgresServer: Sendable {
  /// The databases of each server. One has code point collation, the other a language collation.
  public enum Database: String, Sendable, CaseIterable {
    case plain, icu
  }

  /// The server programs, if they are installed.
  public static var installation: Installation? { Installation.found }

  /// The server shared by all tests of the process, which must not kill it. Nil if no server is installed or it did
  /// not start; the reason is written to standard error.
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

  /// The port on 127.0.0.1. It stays the same for the lifetime of the server, also while it is stopped.
  public let port: Int
  /// The folder with the server's socket, its `log` and its `data`.
  public let folder: String

  let installation: Installation
  let user: ServerUser
  private let guardian: Guardian

  var data: String { folder + "/data" }
  var log: String { folder + "/log" }

  /// Creates and starts a server.
  ///
  /// - Parameter durable: True for tests that kill the server: commits are flushed to disk. False is faster.
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

  /// - Parameter fill: Creates the folder `data`.
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
          "unix_socket_directories": "'\(folder)'", "max_connections": "600",
          "authentication_timeout": "600", "wal_sender_timeout": "0",
          "max_prepared_transactions": "0", "wal_level": "replica", "max_wal_senders": "10",
        ], uniquingKeysWith: { given, _ in given }))
    try start()
  }

  /// Also stops a server that does not respond.
  private static let ending = """
    pid=$(head -n 1 "$1/data/postmaster.pid")
    "$2" -D "$1/data" -m immediate -t 10 stop || { [ -n "$pid" ] && kill -9 "$pid"; }
    """

  /// Stops the server and removes its folder.
  public func remove() { guardian.finish() }

  /// Returns the libpq URL of a TCP connection.
  public func url(_ database: Database = .plain) -> String {
    "postgresql://postgres@127.0.0.1:\(port)/\(database)"
  }

  /// Returns the libpq URL of a connection through the Unix domain socket.
  public func url(socket database: Database) -> String {
    let host = folder.replacing("/", with: "%2F")
    return "postgresql://postgres@\(host):\(port)/\(database)"
  }

  /// Executes statements individually, and returns their rows as lines with columns separated by `|`.
  @discardableResult
  public func psql(_ sql: String, database: Database = .plain) throws -> String {
    try psql(sql, url: url(database))
  }

  /// Executes statements on any URL, such as that of a proxy.
  @discardableResult
  public func psql(_ sql: String, url: String) throws -> String {
    let output = try Program.run(
      [installation.program("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", url], input: sql)
    return output.hasSuffix("\n") ? String(output.dropLast()) : output
  }

  @discardableResult
  func run(_ program: String, _ arguments: String...) throws -> String {
    try Program.run([installation.program(program)] + arguments, as: user)
  }

  /// Appends settings to the configuration file. Later settings take precedence.
  func append(_ settings: [String: String]) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: data + "/postgresql.conf"))
    try file.seekToEnd()
    let lines = settings.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }
    try file.write(contentsOf: Data(("\n" + lines.joined()).utf8))
    try file.close()
  }
}

/// A failure to start or use a server.
public struct ServerFailure: Error, CustomStringConvertible {
  public let description: String
}

extension PostgresServer {
  /// Returns the text of `pg_dump` of a schema.
  public func dump(schema: String, database: Database = .plain) throws -> String {
    try Program.run([installation.program("pg_dump"), "-n", schema, url(database)])
  }
}
