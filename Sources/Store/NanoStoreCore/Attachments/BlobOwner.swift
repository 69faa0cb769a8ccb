// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Identifies the process that is writing an attachment, so that the remains of a killed process are collected
/// immediately, and the writes of a running one are not.
///
/// The text is `1 BOOT NAMESPACE PID START ID`: the boot of the machine, the namespace of process IDs, the process with
/// its start time, and the write. A part that the system does not provide is `-`.
package struct BlobOwner: Hashable, Sendable {
  package let text: String

  private static let live = Mutex<Set<String>>([])

  /// Creates a new owner in this process, which is alive until ``end()``.
  package init() {
    text = "\(Self.process) \(UUID().uuidString)"
    _ = Self.live.withLock { $0.insert(text) }
  }

  package func end() { _ = Self.live.withLock { $0.remove(text) } }

  /// The owner of attachments that this process has added but not yet saved in a document.
  static let ofProcess = process + " -"

  /// What is known about an owner.
  enum State {
    /// A write in progress of this process.
    case writing
    /// This process, or another one that runs.
    case running
    case ended
    case unknown
  }

  /// - Parameter isLocal: Whether only processes of this machine use the store.
  static func state(of text: String, isLocal: Bool) -> State {
    let parts = text.split(separator: " ").map(String.init)
    let own = process.split(separator: " ").map(String.init)
    guard parts.count == own.count + 1, parts[0] == own[0] else { return .unknown }
    // Without an identifier of the boot, as on Apple platforms, a process of a server's store may run on any machine.
    if own[1] == "-", !isLocal {
      if text == ofProcess { return .running }
      return live.withLock { $0.contains(text) } ? .writing : .unknown
    }
    guard parts[1] == own[1] else {
      // Otherwise it may be another machine.
      return isLocal && own[1] != "-" && parts[1] != "-" ? .ended : .unknown
    }
    guard parts[2] == own[2] else { return .unknown }
    if parts[3...4] == own[3...4] {
      if parts[5] == "-" { return .running }
      return live.withLock { $0.contains(text) } ? .writing : .ended
    }
    guard let id = pid_t(parts[3]) else { return .unknown }
    guard kill(id, 0) == 0 || errno == EPERM else { return .ended }
    let start = startTime(of: id)
    guard start != "-", parts[4] != "-" else { return .unknown }
    return start == parts[4] ? .running : .ended
  }

  private static let process: String = {
    let id = getpid()
    return "1 \(boot) \(namespace) \(id) \(startTime(of: id))"
  }()

  private static let boot = contents(of: "/proc/sys/kernel/random/boot_id") ?? "-"

  private static let namespace: String = {
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
    return link?.replacing(" ", with: "") ?? "-"
  }()

  /// The 22nd field of `/proc/PID/stat` (proc(5)), counted after the name, which may contain spaces.
  private static func startTime(of process: pid_t) -> String {
    guard let status = contents(of: "/proc/\(process)/stat"), let end = status.lastIndex(of: ")")
    else { return "-" }
    let fields = status[end...].split(separator: " ")
    return fields.count > 20 ? String(fields[20]) : "-"
  }

  private static func contents(of path: String) -> String? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }
}
