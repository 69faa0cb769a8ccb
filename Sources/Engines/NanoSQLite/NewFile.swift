// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Files whose permissions are settled before SQLite opens them.
enum NewFile {
  /// Makes an empty file, which SQLite takes for a new database. What it keeps beside it has the same mode.
  static func create(_ path: String, mode: mode_t) throws(StoreError) {
    let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
    if file >= 0 {
      close(file)
    } else if errno != EEXIST {
      throw SystemFailure.error("The file cannot be created", path: path, errno)
    }
  }
}
