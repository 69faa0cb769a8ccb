// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import NanoDocument

/// A file created next to its destination, as `library.db.nanostore-<UUID>`, and renamed when it is complete.
///
/// It is locked while it is being written. If its process is killed, the file remains without the lock, and the
/// next process that creates a file for the same destination removes it.
final class UnfinishedFile {
  /// The destination.
  let path: String
  /// The path of the temporary file that becomes the destination.
  private(set) var copy: String
  private var descriptor: Int32 = -1

  init(for path: String) {
    self.path = path
    copy = Self.newName(path)
  }

  private static func newName(_ path: String) -> String { path + mark + UUID().uuidString }

  /// Returns the path of the file that is locked for a temporary file.
  private static func locked(_ copy: String) -> String {
    #if canImport(Darwin)
      // Apple's kernel makes a lock of `flock` conflict with those that SQLite sets on the same file in this process.
      copy + ".lock"
    #else
      copy
    #endif
  }

  deinit { remove() }

  private static let mark = ".nanostore-"
  /// The suffixes of the database file and of the files that SQLite keeps next to it.
  static let suffixes = ["", "-wal", "-shm", "-journal"]
  /// The suffix of the copy of a damaged file during recovery.
  static let damaged = ".damaged"

  /// Creates the empty file and removes leftovers of earlier ones.
  func create(mode: mode_t) throws(StoreError) {
    removeLeftovers()
    repeat {
      if descriptor >= 0 {
        close(descriptor)
        copy = Self.newName(path)
      }
      descriptor = open(Self.locked(copy), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode)
      guard descriptor >= 0 else {
        throw SystemError.error("The file cannot be created", path: path, errno)
      }
      // On file systems without locks, leftovers are not removed.
      flock(descriptor, LOCK_EX | LOCK_NB)
      // Another process may have considered it abandoned before it was locked.
    } while isRemoved
    guard Self.locked(copy) != copy else { return }
    let file = open(copy, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode)
    guard file >= 0 else {
      throw SystemError.error("The file cannot be created", path: path, errno)
    }
    close(file)
  }

  private var isRemoved: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  /// Renames the file to its destination, replacing an existing file.
  ///
  /// - Throws: An error after which there is no file at the destination, except if the rename may not survive a power loss.
  func moveIntoPlace() throws {
    do { try applyLog() } catch { throw DatabaseFile.explained(error, path) }
    // The log of the replaced file must not be applied to the new one.
    for suffix in Self.suffixes.dropFirst() { unlink(path + suffix) }
    guard rename(copy, path) == 0 else {
      throw SystemError.error("The file cannot be moved into place", path: path, errno)
    }
    try syncFolder()
  }

  /// Writes what is only in a write-ahead log into the file. SQLite does that when the last connection closes, but reports no
  /// error if it fails, for example because the disk is full.
  private func applyLog() throws {
    var log = stat()
    guard stat(copy + "-wal", &log) == 0, log.st_size > 0 else { return }
    let queue = try DatabaseQueue(path: copy)
    try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try queue.close()
  }

  /// Syncs the folder, which makes the rename durable. File systems that do not support it return `EINVAL`, and
  /// folders that are writable but not readable return `EACCES`; there is no alternative in these cases.
  private func syncFolder() throws(StoreError) {
    let folder = open(NSString(string: path).deletingLastPathComponent, O_RDONLY)
    defer { if folder >= 0 { close(folder) } }
    #if canImport(Darwin)
      // A plain sync leaves the data in the cache of the disk; some file systems have no other.
      let isSynced = folder >= 0 && (fcntl(folder, F_FULLFSYNC) == 0 || fsync(folder) == 0)
    #else
      let isSynced = folder >= 0 && fsync(folder) == 0
    #endif
    guard !isSynced, errno != EINVAL, errno != EACCES else { return }
    throw SystemError.error(
      "The file is in place, but the rename may not survive a power loss", path: path, errno)
  }

  /// Removes the file unless it was renamed. The descriptor is closed last, because closing it also releases
  /// SQLite's locks on the file.
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
    if locked(copy) != copy { unlink(locked(copy)) }
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
    let file = open(locked(copy), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    // Other files are removed after it, or were created after it.
    guard file >= 0 else { return errno == ENOENT }
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) == 0
  }
}
