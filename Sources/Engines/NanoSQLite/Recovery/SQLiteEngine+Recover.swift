// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
package import NanoEngine

extension SQLiteEngine {
  /// Recovers everything that can be read from a damaged file into a new file.
  ///
  /// The damaged file and the files next to it are never written to: they are copied to the destination's
  /// folder, and the copy is read page by page, without SQLite. The file should not be written to meanwhile.
  ///
  /// - Parameters:
  ///   - path: The damaged file.
  ///   - destination: The new file, which is created completely or not at all.
  ///   - progress: Called with values from 0 to 1; an error that it throws ends the recovery and leaves nothing
  ///     behind.
  /// - Returns: A report of what was recovered and what was lost.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file does not exist, ``StoreError/Code/alreadyExists``,
  ///   ``StoreError/Code/notADatabase`` if nothing in it resembles a store.
  package static func recover(
    from path: String, to destination: BackupDestination,
    progress: ((Double) throws -> Void)? = nil
  ) throws -> RecoveryReport {
    let source = DatabaseFile.resolved(try DatabaseFile.absolute(path))
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder),
      !isFolder.boolValue
    else { throw StoreError(.cannotOpen, "The damaged file does not exist", [.path: source]) }
    let target = try BackupTarget(destination, source: source)
    let damaged = DamagedCopy(of: source, for: target)
    defer { target.file.remove() }
    do {
      try target.createFile(isPrivate: false)
      try damaged.make()
      let report = try Recovery(damaged).run(into: target.file.copy, progress)
      try target.file.moveIntoPlace()
      return report
    } catch let error as StoreError where error.code == .notADatabase {
      throw error.replacing(.path, source)
    } catch let error as StoreError where error[.path]?.hasPrefix(target.file.copy) == true {
      throw error.replacing(.path, target.path)
    } catch {
      throw DatabaseFile.explained(error, target.path)
    }
  }
}

/// A copy of a damaged file with its logs, which SQLite applies as far as possible. It is removed with the
/// unfinished file.
struct DamagedCopy {
  private let source: String
  private let target: BackupTarget
  var path: String { target.file.copy + UnfinishedFile.damaged }

  init(of source: String, for target: BackupTarget) {
    self.source = source
    self.target = target
  }

  func make() throws(StoreError) {
    try copy("")
    for suffix in ["-wal", "-journal"]
    where FileManager.default.fileExists(atPath: source + suffix) { try copy(suffix) }
    PrivateCopy.applyLogs(path)
  }

  private func copy(_ suffix: String) throws(StoreError) {
    do {
      try PlainCopy.make(of: source + suffix, at: path + suffix)
    } catch {
      throw error.isOfSource ? unreadable(suffix, error.number) : unwritable(error.number)
    }
  }

  private func unreadable(_ suffix: String, _ number: Int32) -> StoreError {
    SystemError.error("The damaged file cannot be read", path: source + suffix, number)
  }
  private func unwritable(_ number: Int32) -> StoreError {
    SystemError.error(
      "The damaged file cannot be copied to the folder of the new file", path: target.path, number)
  }

  /// The path of the log, if it still exists.
  var log: String? {
    FileManager.default.fileExists(atPath: path + "-wal") ? path + "-wal" : nil
  }
}
