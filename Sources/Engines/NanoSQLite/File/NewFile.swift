// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Functions that create files and folders with the right permissions before SQLite opens them.
enum NewFile {
  /// Creates an empty file, which SQLite treats as a new database. SQLite gives the log files the same mode.
  static func create(_ path: String, mode: mode_t) throws(StoreError) {
    let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
    if file >= 0 {
      close(file)
    } else if errno != EEXIST {
      throw SystemError.error("The file cannot be created", path: path, errno)
    }
  }

  /// Creates a folder and its missing parents. Foundation's errors do not state why this failed.
  static func createFolder(_ path: String) throws(StoreError) {
    var missing: [String] = []
    var folder = path
    while mkdir(folder, 0o777) != 0, errno != EEXIST {
      let number = errno
      let parent = NSString(string: folder).deletingLastPathComponent
      guard number == ENOENT, !parent.isEmpty, parent != folder else {
        throw failure(path, number)
      }
      missing.append(folder)
      folder = parent
    }
    for folder in missing.reversed() where mkdir(folder, 0o777) != 0 && errno != EEXIST {
      throw failure(path, errno)
    }
  }

  private static func failure(_ folder: String, _ number: Int32) -> StoreError {
    SystemError.error("The folder of a store cannot be created", path: folder, number)
  }
}
