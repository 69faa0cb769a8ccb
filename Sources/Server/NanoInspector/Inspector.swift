// SPDX-License-Identifier: MIT

package import Foundation
package import NanoServer
package import NanoStoreCore

/// The pages that show a store, and the API that they use.
///
/// ```
/// GET  /                     the page; its modules and style sheet are beside it
/// GET  /api/store            engine, size, settings, limits
/// GET  /api/collections      names, counts
/// GET  /api/summary          ?in: bytes, growth, last insertion
/// GET  /api/documents        ?in &where &sort &after &size
/// POST /api/documents        the same in the body, because a position can be longer than a URL
/// GET  /api/document         ?in &rowID or &key
/// GET  /api/count            ?in &where
/// GET  /api/explain          ?in &where &sort
/// GET  /api/paths            ?in: the path catalog
/// GET  /api/shape            ?in &where &path &values
/// GET  /api/indexes          ?in
/// GET  /api/search           ?in &text &index &where &size
/// GET  /api/groups           ?in &where &by &value &aggregate &bucket
/// GET  /api/lookup           ?key: documents with these keys, in any collection
/// GET  /api/references       ?key: documents that contain this text, in any collection
/// GET  /api/neighbors        ?in &rowID &size &links: the documents that a document refers to
/// GET  /api/referrers        ?in &rowID &size &links: the documents that refer to it
/// GET  /api/index-sizes      ?in: bytes of each index
/// GET  /api/sync             synchronized collections: checkpoints, conflicts, problems
/// GET  /api/conflict         ?in &key: the versions of a document
/// GET  /api/verify           &id
/// GET  /api/changes          commits, as server-sent events
/// GET  /api/backup           &id: a copy of the store, as a download
/// GET  /api/export           ?in &where &sort &format &id: documents, as a download
/// GET  /api/attachment       ?in &rowID &name: as a download
/// GET  /api/transfer         ?id: progress of a backup, export, import, verification or compaction
/// POST /api/cancel           ?id: cancels it
/// POST /api/import           ?in &format &key &replace &skip &id; the body is a file        with --write
/// POST /api/compact          &id        with --write
/// POST /api/replace, delete, create-index, drop-index, resolve        with --write
/// ```
///
/// `in` is the name of a collection: a parameter, because browsers remove a component such as `..` from paths.
/// Conditions and orders are query text. Values are Extended JSON (``WireValue``). Every call accepts `limit`, its time
/// limit in milliseconds, and fails with `{"error": {"code", "message", "details"}}`.
package struct Inspector: RequestHandler {
  let store: Store
  let options: InspectorOptions
  let transfers = Transfers()

  package init(_ store: Store, options: InspectorOptions) {
    self.store = store
    self.options = options
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    guard request.path.first == "api" else { return page(request) }
    do {
      let given = try Self.isLongQuery(request) ? request.addingBody() : request
      let result =
        if let limit = try timeLimit(of: given) {
          try await withTimeLimit(limit) { try await call(given) }
        } else {
          try await call(given)
        }
      return ServerResponse(contentType: "application/json", body: result.json)
    } catch {
      return WireError.response(error)
    }
  }

  package func stream(for request: ServerRequest) -> EventStream? {
    guard request.method == .get, request.path == ["api", "changes"] else { return nil }
    return LiveCommits(store).stream
  }

  private func page(_ request: ServerRequest) -> ServerResponse {
    let name = request.path.joined(separator: "/")
    guard request.method == .get,
      let file = PageFiles.file(name.isEmpty ? "index.html" : name, in: options.pagesFolder)
    else { return .text(404, "There is no such page.\n") }
    return ServerResponse(contentType: file.contentType, body: file.bytes)
  }

  /// Whether a query has its parameters in the body, since they may be too long for a URL.
  private static func isLongQuery(_ request: ServerRequest) -> Bool {
    request.method == .post && request.path == ["api", "documents"]
  }

  private func timeLimit(of request: ServerRequest) throws -> Duration? {
    guard let text = request["limit"] else {
      // These read the whole store, and pages show for how long they have been running.
      if request.path.last.flatMap(MaintenanceTask.init) != nil { return nil }
      let writes = request.method == .post && !Self.isLongQuery(request)
      return writes ? options.maximumTimeLimit : options.timeLimit
    }
    guard let milliseconds = Int(text), milliseconds > 0 else {
      throw RouteError.invalid("limit", "a number of milliseconds")
    }
    return min(.milliseconds(milliseconds), options.maximumTimeLimit)
  }

  private func call(_ request: ServerRequest) async throws -> Wire {
    guard request.path.count == 2 else { throw RouteError.unknownRoute }
    switch (request.method, request.path[1]) {
    case (.get, "store"): return try await describe()
    case (.get, "collections"): return try await collections()
    case (.get, "lookup"): return try await lookUp(request)
    case (.get, "references"): return try await references(request)
    case (.get, "sync"): return try await sync()
    case (.get, "verify"): return try await maintain(.verify, request)
    case (.get, "transfer"): return try progress(of: request)
    case (.post, "cancel"): return try cancelTransfer(request)
    case (.get, let name): return try await read(name, store[request.required("in")], request)
    case (.post, _) where !options.allowsWrites: throw RouteError.readOnly
    case (.post, "compact"): return try await maintain(.compact, request)
    case (.post, let name): return try await write(name, store[request.required("in")], request)
    }
  }

  private func read(
    _ name: String, _ collection: DocumentCollection, _ request: ServerRequest
  ) async throws -> Wire {
    switch name {
    case "summary": try await summary(of: collection)
    case "documents": try await documents(in: collection, request)
    case "conflict": try await conflict(in: collection, request)
    case "document": try await document(in: collection, request)
    case "count": try await count(in: collection, request)
    case "explain": try await explain(in: collection, request)
    case "paths": try await paths(of: collection)
    case "shape": try await shape(of: collection, request)
    case "indexes": try await indexes(of: collection)
    case "index-sizes": try await indexSizes(of: collection)
    case "neighbors": try await neighbors(in: collection, request)
    case "referrers": try await referrers(in: collection, request)
    case "search": try await search(in: collection, request)
    case "groups": try await groups(of: collection, request)
    default: throw RouteError.unknownRoute
    }
  }
}

/// The settings of an ``Inspector``.
package struct InspectorOptions: Sendable {
  /// The location of the store as pages show it, without a password.
  package var location: String
  /// Whether pages may change the store, which then has to be opened for writing.
  package var allowsWrites = false
  /// The time after which a query is canceled.
  package var timeLimit = Duration.seconds(1)
  /// The time that a page may request for a query.
  package var maximumTimeLimit = Duration.seconds(600)
  /// Runs maintenance so that canceling ends it, and returns the outcome as JSON; nil to run it in this process, where
  /// it does not end early.
  ///
  /// Throws ``MaintenanceFailure``.
  package var maintenance: (@Sendable (MaintenanceTask) async throws -> [UInt8])?
  /// A folder whose files replace the embedded pages, for their development.
  package var pagesFolder: URL?

  package init(location: String) { self.location = location }
}
