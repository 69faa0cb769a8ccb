// SPDX-License-Identifier: MIT

import Foundation

extension PostgresServer {
  /// Starts it again on the same port, with what it kept, and returns when it answers.
  public func start() throws {
    do {
      try run("pg_ctl", "-D", data, "-l", log, "-w", "-t", "60", "start")
    } catch {
      let told = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw ServerFailure(description: "\(error)\n\(told.suffix(2_000))")
    }
  }

  /// Ends it in order; connections are closed.
  public func stop() throws { try run("pg_ctl", "-D", data, "-w", "-m", "fast", "stop") }

  public func restart() throws {
    try stop()
    try start()
  }

  /// Ends all its processes at once, as a machine that loses power does, and returns when they are gone.
  public func kill() throws {
    let postmaster = try process()
    // Its children would end by themselves, but one that is busy not before it has an answer.
    Foundation.kill(postmaster, SIGSTOP)
    let all = try [postmaster] + Self.children(of: postmaster)
    for process in all { Foundation.kill(process, SIGKILL) }
    let end = ContinuousClock.now + .seconds(120)
    while all.contains(where: Self.isRunning) {
      guard ContinuousClock.now < end else {
        throw ServerFailure(description: "the server's processes do not end")
      }
      usleep(2_000)
    }
    // Where nobody waits for the dead, their numbers stay taken, and the next server would believe in this one.
    for name in ["data/postmaster.pid", ".s.PGSQL.\(port).lock"] {
      try? FileManager.default.removeItem(atPath: folder + "/" + name)
    }
  }

  /// The number of the server's first process.
  func process() throws -> pid_t {
    let lines = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
    guard let process = lines.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw ServerFailure(description: "the server has not started")
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

  /// Not one that is dead and that nobody has waited for yet.
  private static func isRunning(_ process: pid_t) -> Bool {
    #if canImport(Darwin)
      return Foundation.kill(process, 0) == 0 || errno == EPERM
    #else
      return status(of: process).map { $0.state != "Z" } ?? false
    #endif
  }

  /// What Linux tells of a process: behind its name, which is in parentheses and may hold anything.
  private static func status(of process: pid_t) -> (state: Substring, parent: pid_t)? {
    let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let words = text?.split(separator: ")").last?.split(separator: " ")
    guard let words, words.count > 1, let parent = pid_t(words[1]) else { return nil }
    return (words[0], parent)
  }
}
