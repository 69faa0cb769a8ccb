// SPDX-License-Identifier: MIT

import Foundation

/// Runs programs with files for standard input and output. With a pipe, a server started in the meantime would
/// inherit its end, and the reader would wait forever. Foundation's `Process` has the same problem, because it
/// detects the end of a program with a socket that servers inherit.
enum Program {
  /// The diagnostics of a failed program.
  struct Failure: Error, CustomStringConvertible {
    let arguments: [String]
    let status: Int32
    let diagnostics: String

    var description: String {
      "\(arguments.joined(separator: " ")): status \(status): \(diagnostics)"
    }
  }

  /// Runs a program and returns its output.
  @discardableResult
  static func run(
    _ arguments: [String], as user: ServerUser? = nil, input: String = ""
  ) throws -> String {
    let scratch = FileManager.default.temporaryDirectory
      .appending(path: "nanostore-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let files = ["in", "out", "err"].map { scratch.appending(path: $0) }
    try Data(input.utf8).write(to: files[0])
    for file in files[1...] { try Data().write(to: file) }
    let handles = [
      try FileHandle(forReadingFrom: files[0]), try FileHandle(forWritingTo: files[1]),
      try FileHandle(forWritingTo: files[2]),
    ]
    let process = try launch(arguments, as: user, files: handles.map(\.fileDescriptor))
    let status = wait(for: process)
    let texts = try files[1...].map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
    guard status == 0 else {
      throw Failure(arguments: arguments, status: status, diagnostics: texts[1] + texts[0])
    }
    return texts[0]
  }

  /// Starts a program in a separate process group, so that signals to our group do not reach it.
  ///
  /// - Parameter files: Its standard input, output and error. It inherits no other descriptors.
  static func launch(_ arguments: [String], as user: ServerUser?, files: [Int32]) throws -> pid_t {
    // A program without permission for its working directory would warn or fail.
    let words =
      (user?.prefix ?? []) + ["/bin/sh", "-c", "cd / && exec \"$@\"", "sh"] + arguments
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
      let closing = POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      let closing: Int32 = 0
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, file) in files.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file, Int32(number))
    }
    #if !canImport(Darwin)
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      for file in open.compactMap({ Int32($0) }) where file > 2 {
        posix_spawn_file_actions_addclose(&actions, file)
      }
    #endif
    // Dispatch threads block signals, and the program would inherit the mask. A shell would then not notice the end
    // of its children.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(closing)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    posix_spawnattr_setpgroup(&attributes, 0)
    var process: pid_t = 0
    let path = words[0]
    let code = withCStrings(words) { words in
      withCStrings(environment) { environment in
        posix_spawn(&process, path, &actions, &attributes, words, environment)
      }
    }
    guard code == 0 else {
      throw Failure(arguments: words, status: code, diagnostics: String(cString: strerror(code)))
    }
    return process
  }

  /// Returns the exit status, or the negated number of the signal that ended the program.
  @discardableResult
  static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      if errno != EINTR { return -1 }
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  /// The environment without variables that affect which server the programs connect to.
  private static let environment: [String] =
    ProcessInfo.processInfo.environment
    .filter { !$0.key.hasPrefix("PG") && !$0.key.hasPrefix("LC_") && $0.key != "LANG" }
    .map { "\($0.key)=\($0.value)" } + ["LC_ALL=C", "PGCLIENTENCODING=UTF8"]

  private static func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let strings = texts.map { strdup($0) }
    defer { for string in strings { free(string) } }
    return body(strings + [nil])
  }
}
