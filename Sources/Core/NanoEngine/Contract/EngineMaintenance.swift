// SPDX-License-Identifier: MIT

/// The upkeep of a database as a whole.
package protocol EngineMaintenance: AnyObject, Sendable {
  /// Returns unused space to the file system.
  func compact() throws
  /// Copies the current state of the database while it remains in use.
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws
  /// Returns everything that is damaged or inconsistent; empty if the database is intact.
  func verify() throws -> [VerificationProblem]
  /// Returns the database's sizes, counts, and settings.
  func statistics() throws -> EngineStatistics
}
