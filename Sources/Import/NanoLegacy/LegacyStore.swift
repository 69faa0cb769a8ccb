// SPDX-License-Identifier: MIT

import Dispatch
public import Foundation
import NanoDocument
import NanoEngine

/// A store written by one of the libraries that this one replaces.
///
/// ```swift
/// let old = try LegacyStore.inspect(URL(filePath: "People.nanostore"))
/// old.kind                                // .nanoStore
/// old.classes.map(\.name)                 // ["Car", "NSFNanoBag", "NSFNanoObject"]
/// ```
///
/// The old store is only read. `Store.importLegacy(from:options:progress:)` imports it.
public enum LegacyStore {
  /// The libraries whose stores can be imported.
  public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
    /// NanoStore for Objective-C, a SQLite file.
    case nanoStore = "NanoStore"
    /// NTJsonStore, a SQLite file.
    case ntJsonStore = "NTJsonStore"
    /// BNRPersistence, a folder with a Tokyo Cabinet hash database for each class.
    case bnrPersistence = "BNRPersistence"
  }

  /// Returns what a file or folder contains, without importing anything.
  ///
  /// - Parameters:
  ///   - url: The SQLite file, or the folder of BNRPersistence.
  ///   - options: The schema and the passphrase of BNRPersistence, which determine how many of its
  ///     records can be read.
  /// - Throws: ``StoreError/Code/notADatabase`` if no library that can be imported wrote it,
  ///   ``StoreError/Code/cannotOpen`` if there is nothing or no permission to read it,
  ///   ``StoreError/Code/inputOutput``.
  public static func inspect(
    _ url: URL, options: LegacyImportOptions = LegacyImportOptions()
  ) throws -> LegacySummary {
    try source(url, options).summary()
  }
  /// The asynchronous form of `inspect(_:options:)`, which does not block the calling thread.
  public static func inspect(
    _ url: URL, options: LegacyImportOptions = LegacyImportOptions()
  ) async throws -> LegacySummary {
    try await onThread { try self.inspect(url, options: options) }
  }

  /// Opens an old store.
  static func source(_ url: URL, _ options: LegacyImportOptions) throws -> any LegacySource {
    guard url.isFileURL else {
      throw StoreError(
        .invalidArgument, "An old store is a file or a folder", [.path: url.absoluteString])
    }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw StoreError(.cannotOpen, "The old store does not exist", [.path: url.path])
    }
    if isFolder.boolValue {
      guard try BNRSource.isLikely(url) else { throw unknown(url) }
      return try BNRSource(url, options)
    }
    let tables = try SQLiteSource(url.path)
    if NanoStoreSource.isLikely(tables) { return try NanoStoreSource(tables, options) }
    if NTJsonSource.isLikely(tables) { return try NTJsonSource(tables, options) }
    throw unknown(url)
  }

  private static func unknown(_ url: URL) -> StoreError {
    StoreError(
      .notADatabase, "The path is not a store of a library that can be imported",
      [
        .path: url.path,
        .expected:
          "a file of NanoStore for Objective-C or NTJsonStore, or a folder of BNRPersistence",
      ])
  }

  /// Runs work on a thread of its own, where blocking is harmless.
  static func onThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "NanoStore.legacy").async {
        continuation.resume(with: Swift.Result { try work() })
      }
    }
  }
}
