// SPDX-License-Identifier: MIT

import Foundation

extension PostgresServer {
  /// A second server that follows this one, and answers what only reads.
  ///
  /// It follows by itself when this one comes back, and asks for what it missed as long as this one still has it.
  public func standby() throws -> PostgresServer {
    try PostgresServer(settings: [:]) { standby in
      try standby.run(
        "pg_basebackup", "-R", "-D", standby.data, "-h", "127.0.0.1", "-p", "\(port)",
        "-U", "postgres", "-X", "stream", "-c", "fast", "--no-sync")
    }
  }

  /// Makes a standby a server that is written to.
  public func promote() throws { try run("pg_ctl", "-D", data, "-w", "promote") }

  /// Waits until a standby has everything that this one has committed.
  public func waitUntilFollowed(by standby: PostgresServer) throws {
    let written = try psql("SELECT pg_current_wal_flush_lsn()")
    let end = ContinuousClock.now + .seconds(120)
    while try standby.psql("SELECT pg_last_wal_replay_lsn() >= '\(written)'") != "t" {
      guard ContinuousClock.now < end else {
        throw ServerFailure(description: "the standby does not follow")
      }
      usleep(10_000)
    }
  }
}
