// SPDX-License-Identifier: MIT

import Foundation

/// The arguments of the process.
enum CommandArguments {
  /// The arguments as text, without the name of the program.
  ///
  /// Paths are bytes on Linux, and `CommandLine.arguments` replaces bytes that are not UTF-8: a command would
  /// work on a file, a key or a collection with another name than the one it was given.
  ///
  /// - Throws: ``CommandFailure`` that shows the argument with its bytes escaped.
  static func text() throws -> [String] {
    let arguments = UnsafeBufferPointer(
      start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return try arguments.dropFirst().compactMap(\.self).map { bytes in
      if let text = String(validatingCString: bytes) { return text }
      throw CommandFailure(
        message:
          "An argument is not UTF-8: \(escaped(bytes)) (give a file a name in UTF-8, or make a "
          + "symbolic link to it)", status: 64)
    }
  }

  private static func escaped(_ bytes: UnsafePointer<CChar>) -> String {
    UnsafeBufferPointer(start: bytes, count: strlen(bytes)).map { byte in
      let byte = UInt8(bitPattern: byte)
      let isPrintable = (0x20..<0x7F).contains(byte)
      return isPrintable ? String(UnicodeScalar(byte)) : "\\x" + String(byte, radix: 16)
    }.joined()
  }
}
