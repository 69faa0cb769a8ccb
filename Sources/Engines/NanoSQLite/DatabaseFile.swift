// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument

/// Paths and connections.
enum DatabaseFile {
  /// The path with its tilde expanded and its folder made; nil for databases without a file.
  static func prepare(
    _ location: SQLiteConfiguration.Location, _ configuration: SQLiteConfiguration
  ) throws -> String? {
    guard case .file(let given) = location else { return nil }
    guard !given.isEmpty, !given.utf8.contains(0) else {
      throw StoreError(.invalidArgument, "The path of a store is empty or holds a NUL")
    }
    let path = absolute(given)
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    if exists, isFolder.boolValue {
      throw StoreError(.cannotOpen, "The path of a store is a folder", [.path: path])
    }
    if exists {
      // SQLite takes a file of one byte for an empty one and would write over it.
      let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      guard size != 1 else {
        throw StoreError(.notADatabase, "The file is not a database", [.path: path])
      }
      return path
    }
    guard !configuration.isReadOnly else {
      throw StoreError(.cannotOpen, "There is no file to open for reading", [.path: path])
    }
    let folder = NSString(string: path).deletingLastPathComponent
    if !folder.isEmpty { try NewFile.createFolder(folder) }
    if configuration.isPrivate { try NewFile.create(path, mode: 0o600) }
    return path
  }

  /// Connections are opened later too, when the program may stand in another folder. And no path
  /// looks like `:memory:` or `file:` any more, which mean something else to SQLite.
  static func absolute(_ path: String) -> String {
    let expanded = NSString(string: path).expandingTildeInPath
    guard !expanded.hasPrefix("/") else { return expanded }
    return NSString(string: FileManager.default.currentDirectoryPath)
      .appendingPathComponent(expanded)
  }

  static func open(
    _ path: String?, _ location: SQLiteConfiguration.Location,
    _ configuration: SQLiteConfiguration, isReader: Bool
  ) throws -> DatabaseQueue {
    var settings = GRDB.Configuration()
    settings.label = isReader ? "NanoStore.reader" : "NanoStore.writer"
    settings.readonly = isReader || configuration.isReadOnly
    settings.busyMode = .timeout(max(0, configuration.busyTimeout))
    settings.foreignKeysEnabled = false
    // Transactions are begun and ended by statements of our own.
    settings.allowsUnsafeTransactions = true
    let isReadOnly = settings.readonly
    settings.prepareDatabase { db in
      guard let handle = db.sqliteConnection else { return }
      sqlite3_extended_result_codes(handle, 1)
      // GRDB's observation asks on which of its queues it is called; we use the connection without.
      sqlite3_commit_hook(handle, nil, nil)
      sqlite3_rollback_hook(handle, nil, nil)
      try QueryFunctions.register(on: handle)
      if configuration.usesFastFieldAccess { try FieldAccess.register(on: handle) }
      let connection = SQLiteConnection(handle, isReadOnly: isReadOnly)
      try DatabaseSetup.apply(configuration, to: connection, isFile: path != nil)
    }
    if let path {
      do {
        return try DatabaseQueue(path: path, configuration: settings)
      } catch {
        guard configuration.isReadOnly, let queue = unchanging(path, settings) else { throw error }
        return queue
      }
    }
    switch location {
    case .memory: return try DatabaseQueue(named: nil, configuration: settings)
    // SQLite makes a nameless file that is gone when it is closed.
    default: return try DatabaseQueue(path: "", configuration: settings)
    }
  }

  /// A file in a folder where no log can be kept beside it, such as a medium that can only be read:
  /// nobody can change it there. Nil where SQLite was built without URIs.
  private static func unchanging(
    _ path: String, _ settings: GRDB.Configuration
  ) -> DatabaseQueue? {
    let folder = NSString(string: path).deletingLastPathComponent
    guard !FileManager.default.isWritableFile(atPath: folder),
      !FileManager.default.fileExists(atPath: path + "-wal"),
      let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
    else { return nil }
    return try? DatabaseQueue(path: "file:\(name)?immutable=1", configuration: settings)
  }

  /// An error of opening, with the path and what can be done.
  static func explained(_ error: any Error, _ path: String?) -> any Error {
    guard let error = SQLiteErrors.translated(error, operation: "open") as? StoreError else {
      return error
    }
    let known = path.map { error.adding(.path, $0) } ?? error
    guard error.code == .cannotOpen else { return known }
    return known.adding(
      .hint,
      "the file, and its folder with a write-ahead log, must permit this user to read and write")
  }
}
