// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// The parameters of a request for changes.
struct ChangesRequest: Sendable {
  enum Feed: String, Sendable {
    case normal, longpoll, continuous, eventsource
  }
  enum Start: Sendable, Hashable {
    case beginning
    case now
    case after(RevisionChange.Sequence)
  }

  var feed: Feed
  var start: Start
  /// The position as the client wrote it.
  var startText: String
  var limit: Int
  /// Whether rows list all leaves.
  var isAllDocuments: Bool
  var isDescending: Bool
  var documents: DocumentContent?
  /// The interval at which the client wants to receive something; nil if the feed ends instead.
  var heartbeat: Duration?
  var timeout: Duration
  /// Only every so many rows has a position.
  var sequenceInterval: Int

  /// CouchDB's.
  private static let defaultTimeout = 60_000
  /// A shorter interval would mostly cost work. Arbitrary.
  private static let minimumHeartbeat = 50
  /// A day.
  private static let maximumHeartbeat = 86_400_000

  init(_ request: SyncRequest, _ visibility: Visibility) throws {
    switch request["feed"] ?? "normal" {
    case "live": feed = .continuous
    case let text:
      guard let known = Feed(rawValue: text) else {
        throw ProtocolError.badRequest(
          "Supported `feed` types: normal, continuous, live, longpoll, eventsource")
      }
      feed = known
    }
    // A browser continues an event source where the connection broke.
    let since = (feed == .eventsource ? request.header("Last-Event-ID") : nil) ?? request["since"]
    (start, startText) = try Self.start(since ?? "0")
    limit = try request.count("limit") ?? .max
    isAllDocuments = request["style"] == "all_docs"
    isDescending = request.isTrue("descending")
    documents = request.isTrue("include_docs") ? DocumentContent(request, visibility) : nil
    heartbeat = try Self.heartbeat(request["heartbeat"])
    timeout = .milliseconds(
      min(try request.count("timeout") ?? Self.defaultTimeout, Self.defaultTimeout))
    sequenceInterval = max(1, try request.count("seq_interval") ?? 1)
    // Without an end, there is no newest change.
    if feed != .normal { isDescending = false }
    // A waiting client without a row would wait forever.
    if feed != .normal, limit == 0 { limit = 1 }
  }

  private static func start(_ text: String) throws(ProtocolError) -> (Start, String) {
    var text = text
    if text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2 {
      text = String(text.dropFirst().dropLast())
    }
    switch text {
    case "", "0": return (.beginning, "0")
    case "now": return (.now, text)
    default:
      guard let sequence = RevisionChange.Sequence(text) else {
        throw .badRequest("Malformed sequence supplied in 'since' parameter.")
      }
      return (.after(sequence), text)
    }
  }

  private static func heartbeat(_ text: String?) throws(ProtocolError) -> Duration? {
    switch text {
    case nil, "", "false": return nil
    case "true": return .milliseconds(defaultTimeout)
    case let text?:
      guard let number = Int(text), number > 0 else {
        throw .badRequest("The heartbeat value should be a positive integer (in milliseconds).")
      }
      return .milliseconds(min(max(number, minimumHeartbeat), maximumHeartbeat))
    }
  }
}
