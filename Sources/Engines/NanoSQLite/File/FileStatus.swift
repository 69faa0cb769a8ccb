// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// What exists at a path.
enum FileStatus: Equatable {
  case missing
  case folder
  case file(size: Int64, FileIdentity)

  /// - Throws: ``StoreError/Code/cannotOpen`` if the system cannot tell, for example because this user may not
  ///   enter a folder.
  init(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) != 0 else {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      self = isFolder ? .folder : .file(size: Int64(status.st_size), FileIdentity(status))
      return
    }
    // The file is missing, or a path component is a file.
    guard errno != ENOENT, errno != ENOTDIR else {
      self = .missing
      return
    }
    let hint =
      errno == EACCES
      ? "this user needs search permission (x) for each folder of the path" : ""
    throw StoreError(
      .cannotOpen, "The path of a store cannot be reached",
      [.path: path, .engineMessage: String(cString: strerror(errno)), .hint: hint])
  }

  var identity: FileIdentity? {
    guard case .file(_, let identity) = self else { return nil }
    return identity
  }
}

/// Distinguishes a file from another file that replaced it at the same path.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
