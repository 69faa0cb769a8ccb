// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting

extension ProgramExecutor {
  /// Performs a call about attachments, expiration, a change feed or a live query; returns nil for other calls.
  func performFeatureCall(_ call: Call) throws -> Outcome? {
    switch call {
    case .attach(let name, let key, let attachment, let count):
      let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) })
      return .text(
        "\(try store[name].attach(.data(bytes), named: attachment, contentType: "text/x", to: key))"
      )
    case .renameAttachment(let name, let key, let attachment, let new):
      try store[name].attachments(of: key).rename(attachment, to: new)
    case .removeAttachment(let name, let key, let attachment):
      return .flag(try store[name].attachments(of: key).remove(attachment))
    case .attachments(let name, let key): return try attachments(store[name].attachments(of: key))
    case .expire(let name, let target, let seconds):
      let date = seconds.map { Self.start.addingTimeInterval(Double($0)) }
      switch target {
      case .key(let key): return .flag(try store[name].setExpiration(date, of: key))
      case .rowID(let id): return .flag(try store[name].setExpiration(date, rowID: id))
      }
    case .expirationRule(let name, let rule): try store[name].setExpirationRule(rule)
    case .expiration(let name, let target):
      let date =
        switch target {
        case .key(let key): try store[name].expiration(of: key)
        case .rowID(let id): try store[name].expiration(rowID: id)
        }
      return .text(Self.text(date))
    case .expirations(let name):
      let collection = store[name]
      return .lines(
        try collection.find().rowIDs().map { id in
          "#\(id) \(Self.text(try collection.expiration(rowID: id)))"
        })
    case .advance(let seconds):
      // A buffered save is a write at the time when it is flushed, which the reference does at once.
      try ignoringRefusals { try store.flush() }
      clock.advance(by: .seconds(seconds))
    case .deleteExpired:
      // The store deletes expired documents on its own, so that only the reference has a known number.
      _ = try store.deleteExpired()
    case .track(let name, let tracking):
      try store[name].setChangeTracking(tracking)
      let state = try store[name].changeTracking()
      try require(state == tracking, "change tracking of \(name) is \(state)")
    case .feed(let name): return try replay(name)
    case .observe(let name, let query):
      if !isReference, !store.isInTransaction { observe(name, query) }
    default: return nil
    }
    return .done
  }

  /// When the clock of a program begins.
  private static let start = Date(timeIntervalSince1970: Double(ManualClock().now()) / 1e6)

  private static func text(_ expiration: Date?) -> String {
    expiration.map { "\($0.timeIntervalSince(start))" } ?? "never"
  }

  private func attachments(_ attachments: DocumentAttachments) throws -> Outcome {
    .lines(
      try attachments.all().map { named in
        let data = try store.data(of: named.attachment)
        return "\(named.name) \(named.attachment) \(data.count) \(data.last ?? 0)"
      })
  }

  /// Notes whose change feed may start again because of a call.
  func noteRestarts(_ call: Call) {
    switch call {
    case .drop(let name), .track(let name, .off): restartable.insert(name)
    case .backup(opening: true): restartable.formUnion(Program.collections)
    case .reopen, .restart:
      if !mode.isPersistent { restartable.formUnion(Program.collections) }
    default: break
    }
  }

  /// Compares a collection with the copy that its change feed makes, and live queries with their results.
  func replay(_ name: String) throws -> Outcome {
    if store.isInTransaction { return .done }
    try store.flush()
    _ = try store.deleteExpired()
    guard !isReference else { return .done }
    let collection = store[name]
    if try collection.changeTracking() == .on {
      var mirror = mirrors[name] ?? FeedMirror()
      try mirror.follow(collection, mayRestart: restartable.contains(name))
      mirrors[name] = mirror
      restartable.remove(name)
      guard try mirror.agrees(with: collection) else {
        throw StressTestFailure("a copy by the change feed differs from \(name)")
      }
    }
    for observation in observations { try observation.requireCurrent() }
    return .done
  }
}
