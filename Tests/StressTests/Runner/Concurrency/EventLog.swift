// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import Synchronization

/// An event with timestamps of a clock shared by all processes.
enum Event: Sendable {
  /// An attempt to append a token to a list.
  case append(list: String, token: String, start: UInt64, end: UInt64, done: Bool)
  /// A read of a list: the number of tokens, and a digest of their order.
  case read(list: String, start: UInt64, end: UInt64, count: Int, digest: UInt64)
  /// An expectation that something exists at the end, or does not.
  case promise(kind: String, key: String, isThere: Bool)

  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Returns a digest of tokens in order (FNV-1a, 64 bits).
  static func digest(_ tokens: some Sequence<String>) -> UInt64 {
    tokens.reduce(14_695_981_039_346_656_037) { add($1, to: $0) }
  }
  static func add(_ token: String, to digest: UInt64) -> UInt64 {
    (Array(token.utf8) + [0]).reduce(digest) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }
}

/// The events of a process, kept in memory while it runs.
final class EventLog: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ event: Event) { lines.withLock { $0.append(event.line) } }

  func write(to path: String) throws {
    let text = lines.withLock { $0.joined(separator: "\n") }
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  static func events(of path: String) throws -> [Event] {
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    return try text.split(separator: "\n").map { try Event(line: String($0)) }
  }
}

extension Event {
  fileprivate var line: String {
    switch self {
    case .append(let list, let token, let start, let end, let done):
      "append\t\(list)\t\(token)\t\(start)\t\(end)\t\(done)"
    case .read(let list, let start, let end, let count, let digest):
      "read\t\(list)\t\(start)\t\(end)\t\(count)\t\(digest)"
    case .promise(let kind, let key, let isThere): "promise\t\(kind)\t\(key)\t\(isThere)"
    }
  }

  fileprivate init(line: String) throws {
    let words = line.split(separator: "\t").map(String.init)
    func number(_ place: Int) -> UInt64 { UInt64(words[place]) ?? 0 }
    switch (words.first, words.count) {
    case ("append", 6):
      self = .append(
        list: words[1], token: words[2], start: number(3), end: number(4), done: words[5] == "true")
    case ("read", 6):
      self = .read(
        list: words[1], start: number(2), end: number(3), count: Int(number(4)), digest: number(5))
    case ("promise", 4):
      self = .promise(kind: words[1], key: words[2], isThere: words[3] == "true")
    default: throw StressTestFailure("an event cannot be parsed: \(line)")
    }
  }
}
