// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

extension ByteSource {
  /// - Parameter argument: A path, or `-` for standard input.
  convenience init(argument: String) throws {
    if argument == "-" {
      try self.init(standardInput: ())
    } else {
      try self.init(path: NSString(string: argument).expandingTildeInPath)
    }
  }

  /// Reads the entire source; intended for single documents.
  func text() throws -> String {
    var bytes: [UInt8] = []
    while let piece = try read() { bytes.append(contentsOf: piece) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(message: TerminalText.text("\(name) is not valid UTF-8"))
    }
    return text
  }
}
