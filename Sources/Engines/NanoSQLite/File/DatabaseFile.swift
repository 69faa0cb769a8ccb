// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument

/// Functions that resolve paths and open connections.
enum DatabaseFile {
  /// Validates a location and creates the file's folder.
  ///
  /// - Returns: The absolute path with its tilde expanded, `nil` for databases without a file; and whether the
  ///   file does not exist yet.
  static func prepare(
    _ location: SQLiteConfiguration.Location, _ configuration: SQLiteConfiguration
  ) throws -> (path: String?, isNew: Bool) {
    guard case .file(let given) = location else { return (nil, false) }
    guard !given.isEmpty, !given.utf8.contains(0) else {
      throw StoreError(
        .invalidArgument, "The path of a store is empty, is not a file URL, or contains a NUL")
    }
    let path = try absolute(given)
    switch try FileStatus(path) {
    case .folder:
      throw StoreError(.cannotOpen, "The path of a store is a folder", [.path: path])
    case .file(let size, _):
      // SQLite treats a one-byte file as empty and would overwrite it.
      guard size != 1 else {
        throw StoreError(.notADatabase, "The file is not a database", [.path: path])
      }
      return (path, false)
    case .missing:
      // As a path it would be a new file in new folders.
      guard given.firstMatch(of: /^[A-Za-z][A-Za-z0-9+.\-]*:\/\//) == nil else {
        throw StoreError(
          .invalidArgument, "The path of a store is a URL",
          // Not the URL itself, which may contain a password.
          [.hint: "pass a file URL as a URL, or open a store on a server with NanoStorePostgres"])
      }
    }
    guard !configuration.isReadOnly else {
      throw StoreError(
        .cannotOpen, "The file does not exist and cannot be opened for reading", [.path: path])
    }
    let folder = NSString(string: path).deletingLastPathComponent
    if !folder.isEmpty { try NewFile.createFolder(folder) }
    if configuration.isPrivate { try NewFile.create(path, mode: 0o600) }
    return (path, true)
  }

  /// Removes a file that this process created but could not set up. A file with a commit is not empty and is
  /// kept.
  static func removeIfEmpty(_ path: String) {
    guard case .file(0, _) = try? FileStatus(path) else { return }
    unlink(path)
  }

  /// Returns the absolute form of a path.
  ///
  /// Connections are also opened later, when the process may have a different current folder. An absolute path
  /// also cannot be mistaken for `:memory:` or `file:`, which are special to SQLite.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` for a relative path if the name of the current folder is not
  ///   UTF-8, because the path as text would lead to a different folder.
  static func absolute(_ path: String) throws(StoreError) -> String {
    let expanded = NSString(string: path).expandingTildeInPath
    guard !expanded.hasPrefix("/") else { return expanded }
    guard let bytes = getcwd(nil, 0) else {
      throw StoreError(
        .cannotOpen, "The current folder cannot be determined",
        [.path: path, .engineMessage: String(cString: strerror(errno))])
    }
    defer { free(bytes) }
    guard let folder = String(validatingCString: bytes) else {
      throw StoreError(
        .cannotOpen, "The name of the current folder is not UTF-8",
        [.path: path, .hint: "use a folder whose name is UTF-8"])
    }
    return NSString(string: folder).appendingPathComponent(expanded)
  }

  /// Resolves symbolic links: log files are stored next to the file, not next to the link.
  static func resolved(_ path: String) -> String {
    let found = realpath(path, nil)
    defer { free(found) }
    return found.flatMap { String(validatingCString: $0) } ?? path
  }

  static func open(
    _ path: String?, _ location: SQLiteConfiguration.Location,
    _ configuration: SQLiteConfiguration, isReader: Bool
  ) throws -> DatabaseQueue {
    var settings = GRDB.Configuration()
    settings.label = isReader ? "NanoStore.reader" : "NanoStore.writer"
    settings.readonly = isReader || configuration.isReadOnly
    settings.busyMode = .timeout(configuration.busyTimeout.inSeconds)
    settings.foreignKeysEnabled = false
    // The engine begins and ends transactions with its own statements.
    settings.allowsUnsafeTransactions = true
    let isReadOnly = settings.readonly
    settings.prepareDatabase { db in
      guard let handle = db.sqliteConnection else { return }
      sqlite3_extended_result_codes(handle, 1)
      // GRDB's observation requires its dispatch queues, and the engine uses the connection without them. Its
      // authorizer, called for each column of each statement, took a sixth of the time of opening a file.
      sqlite3_set_authorizer(handle, nil, nil)
      sqlite3_commit_hook(handle, nil, nil)
      sqlite3_rollback_hook(handle, nil, nil)
      try QueryFunctions.register(on: handle)
      if configuration.usesFastFieldAccess { try FieldAccess.register(on: handle) }
      let connection = SQLiteConnection(handle, isReadOnly: isReadOnly)
      try DatabaseSetup.apply(configuration, to: connection, isFile: path != nil)
    }
    if let path {
      let log = LogFiles(of: path)
      guard !configuration.isImmutable else {
        try log.requireNone()
        return try DatabaseQueue(path: immutable(path), configuration: settings)
      }
      try log.requireAccess()
      return try DatabaseQueue(path: path, configuration: settings)
    }
    switch location {
    case .memory: return try DatabaseQueue(named: nil, configuration: settings)
    // SQLite creates an anonymous file that is deleted when it is closed.
    default: return try DatabaseQueue(path: "", configuration: settings)
    }
  }

  /// Returns the URI that makes SQLite read a file without locks and logs (https://www.sqlite.org/uri.html).
  private static func immutable(_ path: String) throws(StoreError) -> String {
    guard let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) else {
      throw StoreError(.invalidArgument, "The path of a store is not valid text", [.path: path])
    }
    return "file:\(name)?immutable=1"
  }

  /// Adds the path and a hint to an error of opening.
  static func explained(_ error: any Error, _ path: String?) -> any Error {
    guard let error = SQLiteErrors.translated(error, operation: "open") as? StoreError else {
      return error
    }
    let located = path.map { error.adding(.path, $0) } ?? error
    guard error.code == .cannotOpen else { return located }
    return located.adding(
      .hint,
      "this user needs permission to read and write the file and, with a write-ahead log, its folder"
    )
  }
}
