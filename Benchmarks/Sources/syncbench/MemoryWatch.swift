// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Measures the most memory that a process uses, without the pages of its file that are mapped: the system takes those back
/// when it needs them. Known on Linux only.
final class MemoryWatch: Sendable {
  private let most = Mutex<Int?>(nil)

  /// In kilobytes.
  var peak: Int? { most.withLock { $0 } }

  /// - Parameter process: Its number, or `self`.
  init(_ process: String) {
    Thread.detachNewThread { [weak self] in
      while let self, let used = Self.used(process) {
        most.withLock { $0 = max($0 ?? 0, used) }
        usleep(Self.pause)
      }
    }
  }

  /// Arbitrary: short compared with the transfer of a batch.
  private static let pause: UInt32 = 10_000

  private static func used(_ process: String) -> Int? {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first
      .flatMap { Int($0) }
  }

  static func text(_ kilobytes: Int?) -> String { kilobytes.map { "\($0 / 1024) MB" } ?? "–" }
}
