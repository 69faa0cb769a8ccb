// SPDX-License-Identifier: MIT

import HTTPTypes
import NanoDocument
import NanoSync

// Feeds that wait for changes.
extension SyncHandler {
  func longpoll(_ reader: ChangeReader) async throws -> SyncResponse {
    // What there is already is an ordinary response, after which the connection can be used again.
    let start = try await reader.start()
    let notifier = reader.served.notifier
    notifier.join()
    let firstVersion = notifier.version
    let maximumSilence = configuration.maximumSilence
    let first: ChangeReader.Page
    do {
      first = try await Self.firstPage(reader, since: start, maximumSilence)
    } catch {
      notifier.leave()
      throw error
    }
    guard first.rows.isEmpty else {
      notifier.leave()
      let rows = Self.joined(first.rows)
      let end = "\n],\n\"last_seq\":\"\(first.last)\"\(try await reader.pending(after: first))}"
      return .json(Array("{\"results\":[\n".utf8) + rows + Array(end.utf8))
    }
    notifier.leave()
    let disconnection = Disconnection()
    return .stream(disconnection: disconnection) { [metrics] write in
      metrics.feeds.increment()
      notifier.join()
      defer {
        notifier.leave()
        metrics.feeds.decrement()
      }
      try await write(Array("{\"results\":[\n".utf8))
      var clock = FeedClock(reader.request)
      var silence = SilenceClock(reader.request, maximumSilence)
      var version = firstVersion
      var page = first
      waiting: while page.rows.isEmpty {
        let waits = !page.hasMore
        if waits {
          switch await notifier.wait(after: version, until: clock.deadline, disconnection) {
          case .ended: break waiting
          case .due:
            guard clock.isAlive else { break waiting }
            try await write(Array("\n".utf8))
            clock.restart()
            continue waiting
          case .changed: version = notifier.version
          }
        }
        let before = page.last
        do {
          page = try await reader.page(
            since: before, limit: reader.request.limit, shares: waits)
        } catch  where notifier.isEnded && !(error is CancellationError) {
          // The database was deleted.
          break waiting
        }
        if !page.rows.isEmpty, await !reader.mayRead() {
          page = ChangeReader.Page(rows: [], last: before, hasMore: false)
          break waiting
        }
        if page.rows.isEmpty, page.hasMore, silence.isOver() {
          try await write(Array("\n".utf8))
        }
      }
      try Task.checkCancellation()
      if disconnection.isClosed { throw CancellationError() }
      let rows = Self.joined(page.rows)
      let end =
        "\n],\n\"last_seq\":\"\(page.last)\"\((try? await reader.pending(after: page)) ?? "")}\n"
      try await write(rows + Array(end.utf8))
    }
  }

  /// Reads pages until one has rows, there are no more, or the client has to receive something.
  private static func firstPage(
    _ reader: ChangeReader, since: RevisionChange.Sequence?, _ maximumSilence: Duration
  ) async throws -> ChangeReader.Page {
    var silence = SilenceClock(reader.request, maximumSilence)
    var page = try await reader.page(since: since, limit: reader.request.limit)
    while page.rows.isEmpty, page.hasMore, !silence.isOver() {
      page = try await reader.page(since: page.last, limit: reader.request.limit)
    }
    return page
  }

  private static func joined(_ rows: [ChangeRow]) -> [UInt8] {
    var output: [UInt8] = []
    for (index, row) in rows.enumerated() {
      if index > 0 { output += ",\n".utf8 }
      output += row.json
    }
    return output
  }

  /// A feed of lines, or of server-sent events, without an end of its own if the client asks for heartbeats.
  func continuous(_ reader: ChangeReader, isEventSource: Bool) -> SyncResponse {
    let form = isEventSource ? FeedForm.events : .lines
    let disconnection = Disconnection()
    let maximumSilence = configuration.maximumSilence
    return .stream(contentType: form.contentType, disconnection: disconnection) {
      [metrics] write in
      let notifier = reader.served.notifier
      metrics.feeds.increment()
      notifier.join()
      defer {
        notifier.leave()
        metrics.feeds.decrement()
      }
      // The client learns at once that the feed has begun.
      try await write(Array("\n".utf8))
      var position: RevisionChange.Sequence?
      do {
        position = try await reader.start()
      } catch  where notifier.isEnded && !(error is CancellationError) {
        if let end = form.end("0", ChangeReader.nonePending) { try await write(end) }
        return
      }
      var rest = reader.request.limit
      var clock = FeedClock(reader.request)
      var silence = SilenceClock(reader.request, maximumSilence)
      var version = notifier.version
      var (isFirst, pending) = (true, ChangeReader.nonePending)
      feed: while true {
        let page: ChangeReader.Page
        do {
          page = try await reader.page(since: position, limit: rest, shares: !isFirst)
        } catch is CancellationError {
          throw CancellationError()
        } catch  where notifier.isEnded {
          // The database was deleted.
          break
        }
        // Time may have passed since the request was allowed, even before the first page.
        if !page.rows.isEmpty, await !reader.mayRead() {
          pending = ""
          break feed
        }
        isFirst = false
        position = page.last
        if !page.rows.isEmpty {
          try await write(page.rows.flatMap { form.row($0) })
          rest -= page.rows.count
          clock.restart()
          silence.restart()
          guard rest > 0 else {
            pending = try await reader.pending(after: page)
            break
          }
        } else if page.hasMore, silence.isOver() {
          try await write(form.heartbeat)
        }
        guard !page.hasMore else { continue }
        waiting: while true {
          switch await notifier.wait(after: version, until: clock.deadline, disconnection) {
          case .ended: break feed
          case .changed:
            version = notifier.version
            break waiting
          case .due:
            guard clock.isAlive else { break feed }
            guard await reader.mayRead() else {
              pending = ""
              break feed
            }
            try await write(form.heartbeat)
            clock.restart()
          }
        }
      }
      try Task.checkCancellation()
      if disconnection.isClosed { throw CancellationError() }
      if let end = form.end(position?.description ?? "0", pending) { try await write(end) }
    }
  }
}

/// When a waiting feed has to send something.
private struct FeedClock {
  private let heartbeat: Duration?
  private let timeout: Duration
  private(set) var deadline: ContinuousClock.Instant

  init(_ request: ChangesRequest) {
    heartbeat = request.heartbeat
    timeout = request.timeout
    deadline = .now + (heartbeat ?? timeout)
  }

  /// Whether the feed goes on after the deadline.
  var isAlive: Bool { heartbeat != nil }

  mutating func restart() { deadline = .now + (heartbeat ?? timeout) }
}

/// When a feed whose filter skips changes has to send something.
struct SilenceClock {
  private let interval: Duration
  private var deadline: ContinuousClock.Instant

  init(_ request: ChangesRequest, _ maximum: Duration) {
    interval = min(maximum, request.heartbeat ?? maximum)
    deadline = .now + interval
  }

  mutating func restart() { deadline = .now + interval }

  /// Returns whether the interval is over. If it is, the next one begins.
  mutating func isOver() -> Bool {
    guard ContinuousClock.now >= deadline else { return false }
    restart()
    return true
  }
}

/// How a feed without an end writes changes.
private enum FeedForm {
  case lines
  case events

  var contentType: String { self == .lines ? SyncResponse.json : "text/event-stream" }

  func row(_ row: ChangeRow) -> [UInt8] {
    switch self {
    case .lines: row.json + [UInt8(ascii: "\n")]
    case .events: Array("data: ".utf8) + row.json + Array("\nid: \"\(row.sequence)\"\n\n".utf8)
    }
  }

  var heartbeat: [UInt8] {
    switch self {
    case .lines: Array("\n".utf8)
    case .events: Array("event: heartbeat\ndata: \n\n".utf8)
    }
  }

  func end(_ sequence: String, _ pending: String) -> [UInt8]? {
    switch self {
    case .lines: Array("{\"last_seq\":\"\(sequence)\"\(pending)}\n".utf8)
    case .events: nil
    }
  }
}
