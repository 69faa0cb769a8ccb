// SPDX-License-Identifier: MIT

import Foundation

extension PostgresServer {
  /// Creates a standby that follows this server and accepts read-only queries.
  ///
  /// It reconnects when this server restarts, and requests the missing log while this server still has it.
  public func standby() throws -> PostgresServer {
    try PostgresServer(settings: [:]) { standby in
      try standby.run(
        "pg_basebackup", "-R", "-D", standby.data, "-h", "127.0.0.1", "-p", "\(port)",
        "-U", "postgres", "-X", "stream", "-c", "fast", "--no-sync")
    }
  }

  /// Promotes a standby to a primary.
  public func promote() throws { try run("pg_ctl", "-D", data, "-w", "promote") }

  /// Waits until a standby has replayed everything that this server has committed.
  public func waitUntilFollowed(by standby: PostgresServer) throws {
    let written = try psql("SELECT pg_current_wal_flush_lsn()")
    let end = ContinuousClock.now + .seconds(900)
    while try standby.psql("SELECT pg_last_wal_replay_lsn() >= '\(written)'") != "t" {
      guard ContinuousClock.now < end else {
        throw ServerFailure(description: "the standby did not catch up")
      }
      usleep(10_000)
    }
  }
}
