// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Functions that create files and folders with the right permissions before SQLite opens them.
enum NewFile {
  /// Creates an empty file, which SQLite treats as a new database, unless the file exists. SQLite gives the log files the
  /// same mode.
  static func create(_ path: String, mode: mode_t) throws(StoreError) {
    var target = path
    for _ in 0..<maximumLinks {
      let file = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
      guard file < 0 else {
        close(file)
        return
      }
      guard errno == EEXIST else {
        throw SystemError.error("The file cannot be created", path: path, errno)
      }
      // Unlike SQLite, O_EXCL does not follow a symbolic link to a file that does not exist.
      guard let next = destination(ofLink: target) else { return }
      target = next
    }
  }

  /// Systems follow no more.
  private static let maximumLinks = 40

  /// Returns the path to which a symbolic link leads; `nil` for anything else.
  private static func destination(ofLink path: String) -> String? {
    guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
      return nil
    }
    return next.hasPrefix("/")
      ? next : NSString(string: path).deletingLastPathComponent + "/" + next
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
