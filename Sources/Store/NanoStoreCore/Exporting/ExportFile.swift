// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A file that has its name only when it is complete. Until then, it is `name.nanostore-<UUID>`.
final class ExportFile {
  private let path: String
  private let isReplacing: Bool
  private let temporary: String
  private let descriptor: Int32

  /// - Throws: ``StoreError/Code/alreadyExists``, ``StoreError/Code/cannotOpen``.
  init(path: String, replacing: Bool) throws(StoreError) {
    self.path = path
    isReplacing = replacing
    temporary = "\(path).nanostore-\(UUID().uuidString)"
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw StoreError(.cannotOpen, "The path of an export is not that of a file", [.path: path])
      }
      guard replacing else { throw Self.exists(path) }
    }
    descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.failure(.cannotOpen, path) }
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
