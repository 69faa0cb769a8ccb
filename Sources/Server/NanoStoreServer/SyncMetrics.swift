// SPDX-License-Identifier: MIT

import CoreMetrics

/// What the server reports to swift-metrics.
final class SyncMetrics: Sendable {
  private static let prefix = "nanostore_sync"
  let documentsRead = Counter(label: "\(prefix)_documents_read")
  let documentsWritten = Counter(label: "\(prefix)_documents_written")
  let documentsRejected = Counter(label: "\(prefix)_documents_rejected")
  /// Feeds that are open: longpoll, continuous and event source.
  let feeds = Meter(label: "\(prefix)_feeds")

  /// Counts a request. The time is that until the response's body begins.
  func count(_ request: SyncRequest, _ response: SyncResponse, _ duration: Duration) {
    let endpoint = Self.endpoint(request)
    Counter(
      label: "\(Self.prefix)_requests",
      dimensions: [
        ("method", Self.method(request)), ("endpoint", endpoint), ("status", "\(response.status)"),
      ]
    ).increment()
    let (seconds, attoseconds) = duration.components
    Timer(label: "\(Self.prefix)_request_duration", dimensions: [("endpoint", endpoint)])
      .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }

  private static let methods: Set<String> = [
    "GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS",
  ]

  private static func method(_ request: SyncRequest) -> String {
    methods.contains(request.method) ? request.method : "other"
  }

  private static let endpoints: Set<String> = [
    "_changes", "_revs_diff", "_missing_revs", "_bulk_docs", "_bulk_get", "_all_docs", "_find",
    "_local", "_local_docs", "_ensure_full_commit", "_compact", "_purge", "_revs_limit",
    "_security", "_session", "_up", "_uuids", "_all_dbs", "_design",
  ]

  /// The kind of endpoint: dimensions have few values, and none of users.
  static func endpoint(_ request: SyncRequest) -> String {
    let path = request.path
    guard let first = path.first else { return "server" }
    if path.count == 1 { return endpoints.contains(first) ? first : "database" }
    if endpoints.contains(path[1]) { return path[1] }
    return path.count == 2 ? "document" : "attachment"
  }
}
