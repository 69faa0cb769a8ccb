// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A file that is made beside its destination, as `library.db.nanostore-<UUID>`, and moved there when it is whole.
///
/// It is locked as long as it is being made. A process that is killed leaves it, without the lock; the next one
/// that makes a file for the same destination removes it.
final class UnfinishedFile {
  /// The destination.
  let path: String
  /// The file that becomes the destination.
  private(set) var copy: String
  private var descriptor: Int32 = -1

  init(for path: String) {
    self.path = path
    copy = Self.newName(path)
  }

  private static func newName(_ path: String) -> String { path + mark + UUID().uuidString }

  deinit { remove() }

  private static let mark = ".nanostore-"
  /// What SQLite keeps beside a file.
  static let suffixes = ["", "-wal", "-shm", "-journal"]
  /// The copy of a damaged file while it is recovered.
  static let damaged = ".damaged"

  /// Makes it, empty, and removes what is left of earlier ones.
  func create(mode: mode_t) throws(StoreError) {
    removeLeftovers()
    repeat {
      if descriptor >= 0 {
        close(descriptor)
        copy = Self.newName(path)
      }
      descriptor = open(copy, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode)
      guard descriptor >= 0 else {
        throw SystemError.error("The file cannot be created", path: path, errno)
      }
      // Where the file system knows no locks, what is left is not removed.
      flock(descriptor, LOCK_EX | LOCK_NB)
      // Another process may have taken it for an abandoned one before it was locked.
    } while isRemoved
  }

  private var isRemoved: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  /// Gives it the name of the destination, in place of a file that is there.
  func moveIntoPlace() throws(StoreError) {
    // The log of the file that was there must not be taken for one of the new file.
    for suffix in Self.suffixes.dropFirst() { unlink(path + suffix) }
    guard rename(copy, path) == 0 else {
      throw SystemError.error("The file cannot be moved into place", path: path, errno)
    }
    try syncFolder()
  }

  /// Only then does the new name survive a power loss. File systems that cannot do it say `EINVAL`, and folders that
  /// may be written to and not read `EACCES`; there nothing better can be had.
  private func syncFolder() throws(StoreError) {
    let folder = open(NSString(string: path).deletingLastPathComponent, O_RDONLY)
    defer { if folder >= 0 { close(folder) } }
    let isSynced = folder >= 0 && fsync(folder) == 0
    guard !isSynced, errno != EINVAL, errno != EACCES else { return }
    throw SystemError.error(
      "The file is in place, but may be missing after a power loss", path: path, errno)
  }

  /// Removes what is not in place. Closed last: closing ends the locks of SQLite on the file too.
  func remove() {
    guard descriptor >= 0 else { return }
    Self.remove(copy)
    close(descriptor)
    descriptor = -1
  }

  private static func remove(_ copy: String) {
    for part in ["", damaged] {
      for suffix in suffixes { unlink(copy + part + suffix) }
    }
  }

  /// Removes files for this destination whose processes have ended.
  private func removeLeftovers() {
    let folder = NSString(string: path).deletingLastPathComponent
    let prefix = NSString(string: path).lastPathComponent + Self.mark
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let copies = Set(
      names.filter { $0.hasPrefix(prefix) }.map { $0.prefix(prefix.count + Self.identifierLength) })
    for name in copies where UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
      let copy = NSString(string: folder).appendingPathComponent(String(name))
      if Self.isAbandoned(copy) { Self.remove(copy) }
    }
  }

  private static let identifierLength = UUID().uuidString.count

  private static func isAbandoned(_ copy: String) -> Bool {
    let file = open(copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    // What is beside it is removed after it.
    guard file >= 0 else { return errno == ENOENT }
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) == 0
  }
}
