// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A file that has its name only when it is complete. Until then, it is `name.nanostore-<UUID>`.
final class ExportFile {
  private let path: String
  private let isReplacing: Bool
  private let temporary: String
  private let descriptor: Int32

  /// - Parameter store: The exported store, whose own files are not replaced.
  /// - Throws: ``StoreError/Code/alreadyExists``, ``StoreError/Code/cannotOpen``,
  ///   ``StoreError/Code/invalidArgument``.
  init(path: String, replacing: Bool, of store: Store) throws(StoreError) {
    self.path = path
    isReplacing = replacing
    temporary = "\(path).nanostore-\(UUID().uuidString)"
    var status = stat()
    var mode: mode_t?
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw StoreError(.cannotOpen, "The path of an export is not that of a file", [.path: path])
      }
      if let file = store.file, Self.isPart(status, ofStoreAt: file) {
        throw StoreError(
          .invalidArgument, "An export cannot replace a file of its own store", [.path: path])
      }
      guard replacing else { throw Self.exists(path) }
      mode = status.st_mode & 0o777
    }
    // A file that is replaced keeps its permissions; if they cannot be set, only the owner has any.
    descriptor = open(
      temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode == nil ? 0o666 : 0o600)
    guard descriptor >= 0 else { throw Self.failure(.cannotOpen, path) }
    if let mode { fchmod(descriptor, mode) }
  }

  deinit {
    close(descriptor)
    // Fails if it has its final name.
    unlink(temporary)
  }

  /// - Throws: ``StoreError/Code/full``, ``StoreError/Code/inputOutput``.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    var rest = bytes[...]
    while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
      let count = Foundation.write(descriptor, start, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure(.inputOutput, path) }
      rest = rest.dropFirst(count)
    }
  }

  /// Syncs the file and gives it its name.
  func finish() throws(StoreError) {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.failure(.inputOutput, path) }
    // Unlike a rename, a link never replaces a file that was created meanwhile.
    if !isReplacing {
      if link(temporary, path) == 0 { return syncFolder() }
      guard errno != EEXIST else { throw Self.exists(path) }
    }
    // Some file systems have no links.
    guard rename(temporary, path) == 0 else { throw Self.failure(.inputOutput, path) }
    syncFolder()
  }

  /// Makes the name durable, where the file system supports it.
  private func syncFolder() {
    let folder = open(NSString(string: path).deletingLastPathComponent, O_RDONLY)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// Returns whether a file is that of a store or one that SQLite keeps beside it, by any path.
  private static func isPart(_ status: stat, ofStoreAt file: String) -> Bool {
    // SQLite's own files are beside the file that a symbolic link leads to.
    let file = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    return ["", "-wal", "-shm", "-journal"].contains { suffix in
      var part = stat()
      guard stat(file + suffix, &part) == 0 else { return false }
      return part.st_dev == status.st_dev && part.st_ino == status.st_ino
    }
  }

  private static func exists(_ path: String) -> StoreError {
    StoreError(
      .alreadyExists,
      "A file exists at the path of the export, which does not replace it by default",
      [.path: path])
  }

  private static func failure(_ code: StoreError.Code, _ path: String) -> StoreError {
    let isFull = errno == ENOSPC || errno == EDQUOT || errno == EFBIG
    return StoreError(
      isFull ? .full : code, "The file cannot be written",
      [.path: path, .engineMessage: String(cString: strerror(errno))])
  }
}
