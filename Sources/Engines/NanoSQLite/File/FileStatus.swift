// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// What a path leads to.
enum FileStatus: Equatable {
  case missing
  case folder
  case file(size: Int64, FileIdentity)

  /// - Throws: ``StoreError/Code/cannotOpen`` where the system does not say, as for a folder that this
  ///   user may not enter.
  init(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) != 0 else {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      self = isFolder ? .folder : .file(size: Int64(status.st_size), FileIdentity(status))
      return
    }
    // A missing last name, or a file where a folder should be.
    guard errno != ENOENT, errno != ENOTDIR else {
      self = .missing
      return
    }
    let hint =
      errno == EACCES
      ? "each folder of the path must permit this user to enter it (permission x)" : ""
    throw StoreError(
      .cannotOpen, "The path of a store cannot be reached",
      [.path: path, .engineMessage: String(cString: strerror(errno)), .hint: hint])
  }

  var identity: FileIdentity? {
    guard case .file(_, let identity) = self else { return nil }
    return identity
  }
}

/// Tells one file from another that got its path.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
