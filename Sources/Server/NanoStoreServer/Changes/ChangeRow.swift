// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// A change as a client receives it.
struct ChangeRow: Sendable {
  let sequence: String
  let json: [UInt8]
}

/// Reads changes and writes them as JSON, for one request.
struct ChangeReader: Sendable {
  let served: ServedDatabase
  let request: ChangesRequest
  let filter: ChangesFilter
  /// Whether the user may still read the database: a feed can outlive the permission.
  let mayRead: @Sendable () async -> Bool

  struct Page: Sendable {
    var rows: [ChangeRow]
    /// The position after the page, which filtered changes are part of.
    var last: RevisionChange.Sequence
    var hasMore: Bool
  }

  /// A change that the filter accepts.
  private struct Accepted: Sendable {
    var change: RevisionChange
    var revisions: DocumentRevisions
    var leaves: [RevisionTree.Leaf]
  }

  /// The number of changes that are read at a time. Arbitrary.
  private static let pageLength = 250

  /// The position after which the changes begin; nil for the beginning.
  func start() async throws -> RevisionChange.Sequence? {
    switch request.start {
    case .beginning: nil
    case .after(let sequence): sequence
    case .now: try await served.lastSequence()
    }
  }

  /// Returns the next changes that the client wants; none if the page has none.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of rows.
  ///   - shares: Whether listeners at the same position may share the reading; changes of the last moments may be missing.
  func page(
    since: RevisionChange.Sequence?, limit: Int, shares: Bool = false
  ) async throws -> Page {
    let length = filter.acceptsAll ? min(limit, Self.pageLength) : Self.pageLength
    let read =
      shares
      ? try await served.notifier.page(since: since, limit: length)
      : try await served.run { try $0.changes(since: since, limit: length) }
    var page = Page(rows: [], last: read.last, hasMore: read.hasMore)
    let wanted = read.changes.filter { filter.accepts($0.id) }
    for row in try await rows(wanted) {
      guard page.rows.count < limit else {
        // The rest of the page comes with the next one.
        page.hasMore = true
        page.last = page.rows.last.flatMap { RevisionChange.Sequence($0.sequence) } ?? read.last
        break
      }
      page.rows.append(row)
    }
    return page
  }

  /// Returns the rows of changes, without those that the filter rejects.
  func rows(_ changes: [RevisionChange]) async throws -> [ChangeRow] {
    guard filter.readsDocuments || request.documents != nil else {
      return changes.map { change in
        row(change, request.isAllDocuments ? change.leaves : Array(change.leaves.prefix(1)), nil)
      }
    }
    guard !changes.isEmpty else { return [] }
    let (filter, isAllDocuments) = (filter, request.isAllDocuments)
    // Filters take their time, and must not occupy the threads of other requests.
    let accepted = try await served.run { database in
      let found = try database.revisions(changes.map(\.id))
      return changes.compactMap { change -> Accepted? in
        guard let revisions = found[change.id] else { return nil }
        var leaves = isAllDocuments ? change.leaves : Array(change.leaves.prefix(1))
        if filter.readsDocuments {
          leaves = leaves.filter { leaf in
            revisions[leaf.id].map { filter.accepts($0) }
              ?? (filter.acceptsUnreadable && revisions.isUnreadable(leaf.id))
          }
        }
        return leaves.isEmpty ? nil : Accepted(change: change, revisions: revisions, leaves: leaves)
      }
    }
    var rows: [ChangeRow] = []
    for (change, revisions, leaves) in accepted.map({ ($0.change, $0.revisions, $0.leaves) }) {
      var document: [UInt8]?
      if let content = request.documents {
        document = try await content.json(of: revisions, in: served)
      }
      rows.append(row(change, leaves, document))
    }
    return rows
  }

  private func row(
    _ change: RevisionChange, _ leaves: [RevisionTree.Leaf], _ document: [UInt8]?
  ) -> ChangeRow {
    let sequence = change.sequence.description
    var json: [UInt8] = []
    json.reserveCapacity(160 + (document?.count ?? 0))
    json += "{\"seq\":\"".utf8
    json += sequence.utf8
    json += "\",\"id\":".utf8
    json += SyncJSON.bytes(DocumentValue.string(change.id))
    json += ",\"changes\":[".utf8
    for (index, leaf) in leaves.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += "{\"rev\":".utf8
      json += SyncJSON.bytes(DocumentValue.string("\(leaf.id)"))
      json.append(UInt8(ascii: "}"))
    }
    json.append(UInt8(ascii: "]"))
    if change.isDeleted { json += ",\"deleted\":true".utf8 }
    if let document {
      json += ",\"doc\":".utf8
      json += document
    }
    json.append(UInt8(ascii: "}"))
    return ChangeRow(sequence: sequence, json: json)
  }

  /// The maximum number of changes that are counted for progress: counting more would take longer than the answer.
  private static let maximumPending = 10_000

  /// The member of a response after which there are no changes.
  static let nonePending = ",\"pending\":0"

  /// The member with the number of changes after a page; empty if there are too many to count.
  func pending(after page: Page) async throws -> String {
    page.hasMore ? try await pending(after: page.last) : Self.nonePending
  }

  /// The member with the number of changes after a position; empty if there are too many to count.
  func pending(after sequence: RevisionChange.Sequence?) async throws -> String {
    let limit = Self.maximumPending
    let count = try await served.run { try $0.countChanges(since: sequence, limit: limit) }
    return count < limit ? ",\"pending\":\(count)" : ""
  }
}
