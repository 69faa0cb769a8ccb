// SPDX-License-Identifier: MIT

import Foundation

/// The command-line arguments of the process.
enum CommandArguments {
  /// Returns the arguments as strings, without the program name.
  ///
  /// Paths are bytes on Linux, and `CommandLine.arguments` replaces invalid UTF-8, so that a command would operate
  /// on a file, key or collection with a name other than the specified one.
  ///
  /// - Throws: ``CommandFailure`` with the escaped bytes of an argument that is not valid UTF-8.
  static func text() throws -> [String] {
    let arguments = UnsafeBufferPointer(
      start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    return try arguments.dropFirst().compactMap(\.self).map { bytes in
      if let text = String(validatingCString: bytes) { return text }
      throw CommandFailure(
        message:
          "An argument is not valid UTF-8: \(escaped(bytes)) (rename the file, or create a symbolic "
          + "link to it)", status: 64)
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
