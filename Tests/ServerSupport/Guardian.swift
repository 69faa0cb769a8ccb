// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Ends what a test process started, and removes its folder, even if that process is killed.
///
/// It is a shell that waits for the end of its input. We hold the other end of the pipe, and the system closes it
/// with us.
final class Guardian: Sendable {
  private let process: pid_t
  private let input: Mutex<FileHandle?>

  /// - Parameters:
  ///   - beginning: What the shell does first. `$1` is the folder; the arguments follow.
  ///   - ending: Ends what runs in the folder.
  init(
    of folder: String, beginning: String = "", ending: String, _ arguments: [String],
    as user: ServerUser
  ) throws {
    let pipe = Pipe()
    // Or a program that is started meanwhile keeps it open beyond our end.
    _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let nothing = try FileHandle(forUpdating: URL(filePath: "/dev/null"))
    // A killed process may have left a program that still makes the folder, or starts the server: again then.
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

  /// Returns when everything is gone.
  func finish() {
    let last = input.withLock { input in
      defer { input = nil }
      return input
    }
    guard let last else { return }
    // Not only by closing it, for a program that was started just before it was marked.
    try? last.write(contentsOf: Data("\n".utf8))
    try? last.close()
    Program.wait(for: process)
  }
}
