// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Ends the processes that a test process started, and removes their folder, even if the test process is killed.
///
/// The guardian is a shell that waits for the end of its input. This process holds the other end of the pipe, which
/// the system closes with it.
final class Guardian: Sendable {
  private let process: pid_t
  private let input: Mutex<FileHandle?>

  /// - Parameters:
  ///   - beginning: The first commands of the shell. `$1` is the folder, followed by the arguments.
  ///   - ending: Ends the processes that run in the folder.
  init(
    of folder: String, beginning: String = "", ending: String, _ arguments: [String],
    as user: ServerUser
  ) throws {
    let pipe = Pipe()
    // Otherwise a program started in the meantime would keep the pipe open after this process ends.
    _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let nothing = try FileHandle(forUpdating: URL(filePath: "/dev/null"))
    // A killed process may leave behind a program that is still creating the folder or starting the server, so
    // repeat.
    let whole = """
      trap '' HUP INT TERM
      \(beginning)
      read -r line && times=1 || times="1 2 3 4 5"
      for time in $times; do
        [ "$time" = 1 ] || sleep 1
        \(ending)
        rm -rf "$1"
      done
      """
    process = try Program.launch(
      ["/bin/sh", "-c", whole, "sh", folder] + arguments, as: user,
      files: [
        pipe.fileHandleForReading.fileDescriptor, nothing.fileDescriptor, nothing.fileDescriptor,
      ])
    input = Mutex(pipe.fileHandleForWriting)
  }

  deinit { finish() }

  /// Ends the processes, and returns when they have ended and the folder is removed.
  func finish() {
    let last = input.withLock { input in
      defer { input = nil }
      return input
    }
    guard let last else { return }
    // Also write, because a program started just before the descriptor was marked may keep the pipe open.
    try? last.write(contentsOf: Data("\n".utf8))
    try? last.close()
    Program.wait(for: process)
  }
}
