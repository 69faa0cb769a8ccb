// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show a store in the browser while other programs use it.",
    discussion: """
      Prints a URL with a random token and serves it until interrupted. Unless --write is given, the store is opened \
      read-only; unless --host is given, the server accepts connections from this machine only. Runs \
      nanostore-inspector, a program of its own, so that this one stays small.
      """)

  @OptionGroup var options: InspectOptions

  func run() throws {
    guard let program = Self.program else {
      throw CommandFailure(
        message:
          "nanostore-inspector is not installed beside this program; in the sources of NanoStore, "
          + "swift build -c release --product nanostore-inspector builds it")
    }
    // As the caller wrote them: the inspector declares the same options.
    let arguments = [program] + (try CommandArguments.text()).dropFirst()
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    // Replaces this process, so that signals and the exit status are those of the inspector.
    execv(program, &pointers)
    let reason = String(cString: strerror(errno))
    for pointer in pointers { free(pointer) }
    throw CommandFailure(message: TerminalText.text("Cannot run \(program): \(reason)"))
  }

  /// The inspector beside this program.
  private static var program: String? {
    guard let this = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
    let path = this.deletingLastPathComponent().appending(path: "nanostore-inspector").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }
}
