// SPDX-License-Identifier: MIT

/// The upkeep of a database as a whole.
package protocol EngineMaintenance: AnyObject, Sendable {
  /// Returns unused space to the file system.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a call that would wait for itself.
  func compact() throws
  /// Copies the current state of the database while it remains in use.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if the destination exists and must not be replaced;
  ///   ``StoreError/Code/unsupported`` without ``Capabilities/backup``; ``StoreError/Code/invalidArgument``. There is
  ///   no incomplete copy.
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws
  /// Returns everything that is damaged or inconsistent; empty if the database is intact.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a call that would wait for itself.
  func verify() throws -> [VerificationProblem]
  /// Returns the database's sizes, counts, and settings.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a call that would wait for itself.
  func statistics() throws -> EngineStatistics
}
