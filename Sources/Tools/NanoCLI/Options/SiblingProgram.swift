// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation

/// A program in the folder of this one, which a command runs, so that this one stays small.
enum SiblingProgram {
  /// Replaces this process by the program, so that signals and the exit status are those of the program.
  ///
  /// It receives the arguments as the caller wrote them: it declares the same options as the command.
  static func run(_ name: String) throws {
    guard let program = path(of: name) else {
      throw CommandFailure(
        message:
          "\(name) is not installed beside this program; in the sources of NanoStore, "
          + "swift build -c release --product \(name) builds it")
    }
    let arguments = [program] + (try CommandArguments.text()).dropFirst()
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    execv(program, &pointers)
    let reason = String(cString: strerror(errno))
    for pointer in pointers { free(pointer) }
    throw CommandFailure(message: TerminalText.text("Cannot run \(program): \(reason)"))
  }

  private static func path(of name: String) -> String? {
    guard let this = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
    let path = this.deletingLastPathComponent().appending(path: name).path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }
}
