// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Translates errors of the operating system: what failed, on which file, why, and what to do.
enum SystemError {
  /// - Parameters:
  ///   - sentence: What failed, a constant.
  ///   - path: The file that the caller specified, which need not be the one on which the call failed.
  ///   - number: The system's error number.
  static func error(_ sentence: String, path: String, _ number: Int32) -> StoreError {
    let (code, hint) = meaning(number)
    let error = StoreError(
      code, sentence, [.path: path, .engineMessage: String(cString: strerror(number))])
    return hint.map { error.adding(.hint, $0) } ?? error
  }

  private static func meaning(_ number: Int32) -> (StoreError.Code, hint: String?) {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: (.full, "free some space, or choose another folder")
    case EACCES, EPERM:
      (.cannotOpen, "this user has no permission to access the file or its folder")
    case EROFS: (.cannotOpen, "choose a folder that can be written to")
    case ENOENT: (.cannotOpen, "the folder does not exist; create it first")
    case ENOTDIR: (.cannotOpen, "a component of the path is a file, not a folder")
    case EISDIR: (.cannotOpen, "the path is a folder")
    case ENAMETOOLONG: (.cannotOpen, "use a shorter name")
    case EMFILE, ENFILE: (.cannotOpen, "too many files are open; close some, or raise the limit")
    default: (.inputOutput, nil)
    }
  }
}
