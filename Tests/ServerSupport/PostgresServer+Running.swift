// SPDX-License-Identifier: MIT

import Foundation

extension PostgresServer {
  /// Starts the server again on the same port with its data, and returns when it accepts connections.
  public func start() throws {
    do {
      try run("pg_ctl", "-D", data, "-l", log, "-w", "-t", "900", "start")
    } catch {
      let logText = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw ServerFailure(description: "\(error)\n\(logText.suffix(2_000))")
    }
  }

  /// Shuts the server down cleanly and closes its connections.
  public func stop() throws {
    try run("pg_ctl", "-D", data, "-w", "-t", "900", "-m", "fast", "stop")
  }

  public func restart() throws {
    try stop()
    try start()
  }

  /// Kills all server processes at once, as in a power loss, and returns when they have ended.
  public func kill() throws {
    let postmaster = try process()
    // The child processes would exit on their own, but a busy one only after finishing its query.
    Foundation.kill(postmaster, SIGSTOP)
    let all = try [postmaster] + Self.children(of: postmaster)
    // The children first: a stopped postmaster keeps their ids.
    for process in all.reversed() { Foundation.kill(process, SIGKILL) }
    let end = ContinuousClock.now + .seconds(900)
    while all.contains(where: Self.isRunning) {
      guard ContinuousClock.now < end else {
        throw ServerFailure(description: "the server processes did not end")
      }
      usleep(2_000)
    }
    // Without a reaper, the process id stays taken, and the next server would mistake it for a running one.
    for name in ["data/postmaster.pid", ".s.PGSQL.\(port).lock"] {
      try? FileManager.default.removeItem(atPath: folder + "/" + name)
    }
  }

  /// Returns the id of the server's main process.
  func process() throws -> pid_t {
    let lines = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
    guard let process = lines.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw ServerFailure(description: "the server is not running")
    }
    return process
  }

  private static func children(of parent: pid_t) throws -> [pid_t] {
    #if canImport(Darwin)
      let lines = try Program.run(["ps", "-A", "-o", "pid=,ppid="]).split(separator: "\n")
      let processes = lines.map { $0.split(separator: " ").compactMap { pid_t($0) } }
      return processes.filter { $0.count == 2 && $0[1] == parent }.map { $0[0] }
    #else
      let names = try FileManager.default.contentsOfDirectory(atPath: "/proc")
      return names.compactMap { pid_t($0) }.filter { status(of: $0)?.parent == parent }
    #endif
  }

  /// Returns false for a zombie process.
  private static func isRunning(_ process: pid_t) -> Bool {
    #if canImport(Darwin)
      return Foundation.kill(process, 0) == 0 || errno == EPERM
    #else
      return status(of: process).map { $0.state != "Z" } ?? false
    #endif
  }

  /// Parses the process state on Linux, which follows the name. The name is in parentheses and can contain anything.
  private static func status(of process: pid_t) -> (state: Substring, parent: pid_t)? {
    let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let words = text?.split(separator: ")").last?.split(separator: " ")
    guard let words, words.count > 1, let parent = pid_t(words[1]) else { return nil }
    return (words[0], parent)
  }
}
