// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// Which documents a listing has.
enum ListedDocuments: Sendable {
  case all
  case designDocuments
}

// `_all_docs`: documents in the order of their IDs.
extension SyncHandler {
  func allDocuments(
    _ access: Access, _ kind: ListedDocuments = .all
  ) async throws -> SyncResponse {
    try access.call.require("GET", "POST")
    let query = try await ListingQuery(access, kind, limit: configuration.maximumBody)
    let served = access.served
    let total = try await served.run { try $0.counts().documents }
    let listing = Listing(
      served: served, visibility: access.visibility,
      content: query.content, kind: kind)
    let sequence =
      query.hasSequence ? ",\"update_seq\":\"\(try await served.lastSequence())\"" : ""
    if let keys = query.keys {
      let selected = keys.dropFirst(query.skip).prefix(query.limit)
      let head = "{\"total_rows\":\(total),\"offset\":null\(sequence),\"rows\":[\n"
      return .stream { write in
        try await write(Array(head.utf8))
        var rows = PieceBuffer()
        for start in stride(
          from: selected.startIndex, to: selected.endIndex, by: Listing.pageLength)
        {
          let page = selected[start..<min(start + Listing.pageLength, selected.endIndex)]
          let found = try await served.revisions(page.compactMap(\.string))
          // Row by row: the keys may name a long document many times.
          for (index, key) in zip(page.indices, page) {
            let row = try await listing.row(key: key, found)
            try await rows.append(
              Array((index > selected.startIndex ? ",\n" : "").utf8) + row, write)
          }
        }
        try await rows.flush(write)
        try await write(Array("\n]}\n".utf8))
      }
    }
    // With invisible documents among those that are counted, it would tell whether an ID exists.
    let offset = access.visibility.isLimited ? "null" : "\(try await query.offset(served))"
    let head = "{\"total_rows\":\(total),\"offset\":\(offset)\(sequence),\"rows\":[\n"
    let (range, skip, limit) = (query.range, query.skip, query.limit)
    return .stream { write in
      try await write(Array(head.utf8))
      var (rest, toSkip, range, isFirst) = (limit, skip, range, true)
      while rest > 0 {
        let page = try await listing.page(range, atMost: max(rest, toSkip))
        let skipped = page.rows.prefix(toSkip).count
        toSkip -= skipped
        let rows = page.rows.dropFirst(skipped).prefix(rest)
        rest -= rows.count
        if !rows.isEmpty {
          try await write(
            Array((isFirst ? "" : ",\n").utf8) + rows.joined(separator: ",\n".utf8))
          isFirst = false
        }
        guard let last = page.last else { break }
        range = range.after(last)
      }
      try await write(Array("\n]}\n".utf8))
    }
  }
}

/// The parameters of a listing.
struct ListingQuery: Sendable {
  var keys: [DocumentValue]?
  var range = ListingRange()
  var skip = 0
  var limit = Int.max
  /// What the documents have; nil if the listing has no documents.
  var content: DocumentContent?
  /// Whether the listing has the position after the last change.
  var hasSequence = false

  init(_ access: Access, _ kind: ListedDocuments, limit maximum: Int) async throws {
    let request = access.request
    var parameters = DocumentObject()
    if request.verb == "POST" {
      try request.requireJSON()
      parameters = try await request.object(limit: maximum, isOptional: true)
    }
    func value(_ names: String...) throws -> DocumentValue? {
      for name in names {
        if let value = try parameters[name] ?? request.json(name) { return value }
      }
      return nil
    }
    // Flags in a body are Booleans or texts, as in CouchDB.
    func isTrue(_ name: String) -> Bool {
      parameters[name].map { $0 == true || $0 == "true" } ?? request.isTrue(name)
    }
    if isTrue("include_docs") {
      content = DocumentContent(access.visibility) { isTrue($0) }
    }
    hasSequence = isTrue("update_seq")
    if let keys = try value("keys"), keys != .null {
      guard let list = keys.array else {
        throw ProtocolError.badRequest("`keys` parameter must be an array.")
      }
      for name in ["key", "startkey", "start_key", "endkey", "end_key"] where try value(name) != nil
      {
        throw ProtocolError(
          400, "query_parse_error",
          "`keys` is incompatible with `key`, `start_key` and `end_key`")
      }
      self.keys = list
    }
    skip = try SyncRequest.count(parameters["skip"]) ?? request.count("skip") ?? 0
    limit = try SyncRequest.count(parameters["limit"]) ?? request.count("limit") ?? .max
    let isDescending = try value("descending") == true
    if let key = try value("key") {
      let id = key.string ?? ""
      range = ListingRange(lower: id, upper: id)
    } else {
      let start = try value("startkey", "start_key")
      let end = try value("endkey", "end_key")
      let includesEnd = try value("inclusive_end") != false
      range =
        isDescending
        ? ListingRange(
          lower: Self.bound(end, isLower: true), upper: Self.bound(start, isLower: false),
          includesLower: includesEnd)
        : ListingRange(
          lower: Self.bound(start, isLower: true), upper: Self.bound(end, isLower: false),
          includesUpper: includesEnd)
    }
    range.isDescending = isDescending
    if kind == .designDocuments { range.limitToDesignDocuments() }
    if keys != nil, isDescending { keys?.reverse() }
  }

  /// An ID as the bound of a range. What is no text precedes or follows all texts.
  private static func bound(_ value: DocumentValue?, isLower: Bool) -> String? {
    switch value {
    case nil: nil
    case .string(let text): text
    case .null, .bool, .int, .double: isLower ? nil : "\u{1}"
    default: isLower ? "\u{10FFFF}" : nil
    }
  }

  /// The number of documents that precede the listing.
  func offset(_ served: ServedDatabase) async throws -> Int {
    let range = range
    let before: ListingRange? =
      range.isDescending
      ? range.upper.map { ListingRange(lower: $0, includesLower: !range.includesUpper) }
      : range.lower.map { ListingRange(upper: $0, includesUpper: !range.includesLower) }
    guard let before else { return skip }
    let count = try await served.run { try $0.count(before) }
    return skip.addingReportingOverflow(count).overflow ? .max : skip + count
  }
}

extension ListingRange {
  static let designPrefix = "_design/"
  /// The first text after those with the prefix.
  private static let designEnd = "_design0"

  mutating func limitToDesignDocuments() {
    if lower.map({ $0.utf8.lexicographicallyPrecedes(Self.designPrefix.utf8) }) ?? true {
      lower = Self.designPrefix
      includesLower = true
    }
    if upper.map({ Self.designEnd.utf8.lexicographicallyPrecedes($0.utf8) }) ?? true {
      upper = Self.designEnd
      includesUpper = false
    }
  }
}

/// Reads documents for listings.
struct Listing: Sendable {
  let served: ServedDatabase
  let visibility: Visibility
  /// What the documents have; nil if the listing has no documents.
  let content: DocumentContent?
  let kind: ListedDocuments

  /// The number of documents that are read at a time. Arbitrary.
  static let pageLength = 250

  /// Returns rows of live documents, and the last ID if there may be more.
  func page(
    _ range: ListingRange, atMost limit: Int
  ) async throws -> (rows: [[UInt8]], last: String?) {
    let length = min(max(limit, 1), Self.pageLength)
    let (documents, last) = try await served.run { try $0.documents(range, limit: length) }
    var rows: [[UInt8]] = []
    for revisions in documents {
      guard let winner = revisions.winner, !winner.isDeleted, visibility.allows(winner) else {
        continue
      }
      rows.append(try await row(winner, revisions))
    }
    return (rows, last)
  }

  /// Returns the row of a key.
  func row(key: DocumentValue, _ found: IDMap<DocumentRevisions>) async throws -> [UInt8] {
    guard let id = key.string, kind == .all || id.hasExactPrefix(ListingRange.designPrefix),
      let revisions = found[id], let winner = revisions.winner, visibility.allows(winner)
    else {
      return Array("{\"key\":".utf8) + SyncJSON.bytes(key)
        + Array(",\"error\":\"not_found\"}".utf8)
    }
    return try await row(winner, revisions)
  }

  private func row(_ winner: SyncDocument, _ revisions: DocumentRevisions) async throws -> [UInt8] {
    let id = SyncJSON.bytes(DocumentValue.string(winner.id))
    var json = Array("{\"id\":".utf8) + id + Array(",\"key\":".utf8) + id
    json += ",\"value\":{\"rev\":".utf8
    json += SyncJSON.bytes(DocumentValue.string("\(winner.revision)"))
    json += (winner.isDeleted ? ",\"deleted\":true}" : "}").utf8
    if let content {
      json += ",\"doc\":".utf8
      json +=
        winner.isDeleted
        ? Array("null".utf8) : try await content.json(winner, revisions, in: served)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }
}
