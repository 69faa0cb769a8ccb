// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

// `_find`: documents that match a selector.
extension SyncHandler {
  /// CouchDB's.
  private static let defaultLimit = 25
  /// The number of documents that are sorted in memory. Arbitrary.
  private static let maximumSorted = 10_000

  func find(_ access: Access) async throws -> SyncResponse {
    try access.call.require("POST")
    try access.request.requireJSON()
    let body = try await access.request.object(limit: configuration.maximumBody)
    guard let value = body["selector"] else {
      throw ProtocolError(400, "missing_required_key", "Missing required key: selector")
    }
    var search = Search(
      selector: try Selector(value), fields: try Self.fields(body["fields"]),
      skip: try SyncRequest.count(body["skip"]) ?? 0,
      limit: try SyncRequest.count(body["limit"]) ?? Self.defaultLimit,
      after: body["bookmark"]?.string.flatMap { $0.isEmpty || $0 == "nil" ? nil : $0 })
    let sort = try Self.sort(body["sort"])
    if sort.isEmpty { search.after = search.after.map(Self.id(ofBookmark:)) }
    guard sort.isEmpty else {
      let found = try await sorted(search, by: sort, access)
      var json = Array("{\"docs\":[".utf8)
      for (index, document) in found.enumerated() {
        json += Array((index == 0 ? "\n" : ",\n").utf8)
        json += SyncJSON.bytes(search.selected(document))
      }
      let bookmark = found.last.map { SortPosition($0, sort).bookmark }
      return .json(json + Self.end(bookmark ?? search.after))
    }
    var matches = Matches(search, access)
    // The first page is read before the response begins, so that its errors are reported.
    let first = try await matches.next()
    return .stream { [matches, search] write in
      var (matches, page, last, isFirst) = (matches, first, DocumentObject?.none, true)
      var pieces = PieceBuffer()
      try await write(Array("{\"docs\":[".utf8))
      while let found = page {
        for document in found {
          try await pieces.append(
            Array((isFirst ? "\n" : ",\n").utf8) + SyncJSON.bytes(search.selected(document)),
            write)
          isFirst = false
        }
        last = found.last ?? last
        page = try await matches.next()
      }
      try await pieces.flush(write)
      let id = last?["_id"]?.string ?? search.after
      try await write(Self.end(id.map(Self.bookmark(ofID:))) + Array("\n".utf8))
    }
  }

  /// The bookmark of a page without a sort. It is the ID of the last document, unless that is `nil`, which stands for none.
  private static func bookmark(ofID id: String) -> String {
    id == "nil" || id.hasExactPrefix("~") ? "~" + id : id
  }

  private static func id(ofBookmark bookmark: String) -> String {
    bookmark.hasExactPrefix("~") ? String(bookmark.unicodeScalars.dropFirst()) : bookmark
  }

  private static let warning: DocumentValue =
    "The documents were scanned: selectors use no index."

  /// What follows the documents of a response.
  private static func end(_ bookmark: String?) -> [UInt8] {
    let end: DocumentObject = ["bookmark": .string(bookmark ?? "nil"), "warning": warning]
    return Array("\n],".utf8) + SyncJSON.bytes(end).dropFirst()
  }

  fileprivate static func match(
    _ revisions: DocumentRevisions, _ search: Search, _ visibility: Visibility
  ) -> DocumentObject? {
    guard let winner = revisions.winner, !winner.isDeleted, !winner.id.hasExactPrefix("_design/"),
      visibility.allows(winner)
    else { return nil }
    let document = winner.selectable
    return search.selector.matches(document) ? document : nil
  }

  private func sorted(
    _ search: Search, by sort: [SortField], _ access: Access
  ) async throws -> [DocumentObject] {
    let start = try search.after.map { try SortPosition(bookmark: $0, sort) }
    var all = search
    (all.skip, all.limit, all.after) = (0, Self.maximumSorted + 1, nil)
    var matches = Matches(all, access)
    var found: [DocumentObject] = []
    while let page = try await matches.next() { found += page }
    guard found.count <= Self.maximumSorted else {
      throw ProtocolError(
        400, "no_usable_index", "More than \(Self.maximumSorted) documents would have to be sorted."
      )
    }
    var ordered = found.map { (position: SortPosition($0, sort), document: $0) }
      .sorted { $0.position.precedes($1.position, sort) }[...]
    if let start { ordered = ordered.drop { !start.precedes($0.position, sort) } }
    return ordered.dropFirst(search.skip).prefix(search.limit).map { $0.document }
  }

  private static func fields(_ value: DocumentValue?) throws -> [[String]]? {
    let list = try list(value, "invalid_fields", "Fields must be an array of strings.")
    guard !list.isEmpty else { return nil }
    return try list.map { value in
      guard let text = value.string else {
        throw ProtocolError.badRequest("Fields must be an array of strings.")
      }
      return try Selector.path(text)
    }
  }

  private static func list(
    _ value: DocumentValue?, _ name: String, _ reason: String
  ) throws(ProtocolError) -> [DocumentValue] {
    guard let value, value != .null else { return [] }
    guard let list = value.array else { throw ProtocolError(400, name, reason) }
    return list
  }

  private static func sort(_ value: DocumentValue?) throws -> [SortField] {
    try list(value, "invalid_sort_json", "Sort must be an array of fields.").map { value in
      if let text = value.string {
        return SortField(path: try Selector.path(text), isDescending: false)
      }
      guard let field = value.object?.first, let direction = field.value.string,
        direction == "asc" || direction == "desc"
      else { throw ProtocolError(400, "invalid_sort_json", "Sort must be an array of fields.") }
      return SortField(path: try Selector.path(field.name), isDescending: direction == "desc")
    }
  }
}

/// The documents that a search finds, page by page.
private struct Matches: Sendable {
  private let search: Search
  private let served: ServedDatabase
  private let visibility: Visibility
  private var range = ListingRange()
  private var toSkip: Int
  private var rest: Int
  private var isAtEnd = false

  init(_ search: Search, _ access: Access) {
    self.search = search
    served = access.served
    visibility = access.visibility
    toSkip = search.skip
    rest = search.limit
    if let after = search.after { range = range.after(after) }
  }

  /// Returns the next documents, maybe none; nil after the last page.
  mutating func next() async throws -> [DocumentObject]? {
    guard rest > 0, !isAtEnd else { return nil }
    let (range, search, visibility) = (range, search, visibility)
    // Conditions take their time, and must not occupy the threads of other requests.
    let (found, last) = try await served.run { database in
      let (documents, last) = try database.documents(range, limit: Listing.pageLength)
      return (documents.compactMap { SyncHandler.match($0, search, visibility) }, last)
    }
    if let last { self.range = range.after(last) } else { isAtEnd = true }
    let skipped = min(toSkip, found.count)
    toSkip -= skipped
    let wanted = Array(found.dropFirst(skipped).prefix(rest))
    rest -= wanted.count
    return wanted
  }
}

private struct Search: Sendable {
  var selector: Selector
  var fields: [[String]]?
  var skip: Int
  var limit: Int
  /// The bookmark of the page before: the ID of its last document or, with a sort, its ``SortPosition``.
  var after: String?

  /// The fields of a document that the client wants.
  func selected(_ document: DocumentObject) -> DocumentObject {
    guard let fields else { return document }
    var selected = DocumentObject()
    for path in fields {
      guard let value = DocumentValue.object(document).value(at: path[...]) else { continue }
      selected = Self.inserting(value, at: path[...], into: selected)
    }
    return selected
  }

  private static func inserting(
    _ value: DocumentValue, at path: ArraySlice<String>, into object: DocumentObject
  ) -> DocumentObject {
    guard let name = path.first else { return object }
    var object = object
    let rest = path.dropFirst()
    object[name] =
      rest.isEmpty ? value : .object(inserting(value, at: rest, into: object[name]?.object ?? [:]))
    return object
  }
}
