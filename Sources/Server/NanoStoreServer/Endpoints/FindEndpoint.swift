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
    let search = Search(
      selector: try Selector(value), fields: try Self.fields(body["fields"]),
      skip: max(0, body["skip"]?.int ?? 0),
      limit: max(0, body["limit"]?.int ?? Self.defaultLimit),
      after: body["bookmark"]?.string.flatMap { $0.isEmpty || $0 == "nil" ? nil : $0 })
    let sort = try Self.sort(body["sort"])
    let found =
      sort.isEmpty
      ? try await matches(search, access)
      : try await sorted(search, by: sort, access)
    return .json([
      "docs": .array(found.map { .object(search.selected($0)) }),
      "bookmark": .string(found.last?["_id"]?.string ?? search.after ?? "nil"),
      "warning": "The documents were scanned: selectors use no index.",
    ])
  }

  private func matches(_ search: Search, _ access: Access) async throws -> [DocumentObject] {
    var (range, found, skip) = (ListingRange(), [DocumentObject](), search.skip)
    if let after = search.after { range = range.after(after) }
    while found.count < search.limit {
      let page = range
      let (documents, last) = try await access.served.run {
        try $0.documents(page, limit: Listing.pageLength)
      }
      for revisions in documents {
        guard let document = Self.match(revisions, search, access.visibility) else { continue }
        guard skip == 0 else {
          skip -= 1
          continue
        }
        found.append(document)
        if found.count == search.limit { break }
      }
      guard let last else { break }
      range = range.after(last)
    }
    return found
  }

  private static func match(
    _ revisions: DocumentRevisions, _ search: Search, _ visibility: Visibility
  ) -> DocumentObject? {
    guard let winner = revisions.winner, !winner.isDeleted, !winner.id.hasExactPrefix("_design/"),
      visibility.allows(winner), search.selector.matches(winner)
    else { return nil }
    return winner.selectable
  }

  private func sorted(
    _ search: Search, by sort: [SortField], _ access: Access
  ) async throws -> [DocumentObject] {
    var all = search
    (all.skip, all.limit, all.after) = (0, Self.maximumSorted + 1, nil)
    let found = try await matches(all, access)
    guard found.count <= Self.maximumSorted else {
      throw ProtocolError(
        400, "no_usable_index", "More than \(Self.maximumSorted) documents would have to be sorted."
      )
    }
    let ordered = found.sorted { a, b in
      for field in sort {
        let (first, second) = (
          DocumentValue.object(a).value(at: field.path[...]) ?? .null,
          DocumentValue.object(b).value(at: field.path[...]) ?? .null
        )
        let order = CollationOrder.compare(first, second)
        if order != 0 { return field.isDescending ? order > 0 : order < 0 }
      }
      return false
    }
    // A bookmark is the last document of the page before.
    let start =
      search.after.flatMap { after in
        ordered.firstIndex { $0["_id"]?.string?.hasSameBytes(as: after) == true }.map { $0 + 1 }
      } ?? 0
    return Array(ordered.dropFirst(start).dropFirst(search.skip).prefix(search.limit))
  }

  private static func fields(_ value: DocumentValue?) throws -> [[String]]? {
    guard let list = value?.array, !list.isEmpty else { return nil }
    return try list.map { value in
      guard let text = value.string else {
        throw ProtocolError.badRequest("Fields must be an array of strings.")
      }
      return try Selector.path(text)
    }
  }

  private static func sort(_ value: DocumentValue?) throws -> [SortField] {
    try (value?.array ?? []).map { value in
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

private struct SortField: Sendable {
  var path: [String]
  var isDescending: Bool
}

private struct Search: Sendable {
  var selector: Selector
  var fields: [[String]]?
  var skip: Int
  var limit: Int
  /// The last document of the page before.
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
