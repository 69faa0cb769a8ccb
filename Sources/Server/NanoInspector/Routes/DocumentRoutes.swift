// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoServer
import NanoStoreCore

/// Documents of a collection.
extension Inspector {
  /// Returns a page of the documents that match.
  func documents(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let query = try request.query(in: collection)
    let size = try request.integer("size", in: 1...Self.maximumPage, default: 50)
    let position = try request["after"].map { try PagePosition(text: $0) }
    let clock = ContinuousClock()
    let start = clock.now
    let page = try await Self.page(query, after: position, size)
    let elapsed = (clock.now - start) / .milliseconds(1)
    return [
      "documents": .array(page.documents.map { .document($0) }),
      "next": .optional(page.next?.text), "milliseconds": .double(elapsed),
      "condition": .string(Self.text(of: query.query.condition)),
      "sort": .string(query.query.orderings.map(\.queryText).joined(separator: ", ")),
      "limit": .optional(query.query.limit), "isCut": .bool(page.isCut),
    ]
  }

  /// A condition that adds another with `AND`, without ORDER BY and LIMIT.
  static func text(of condition: Condition) -> String {
    condition == .constant(true) ? "" : condition.queryText
  }

  private static func page(
    _ query: DocumentQuery, after position: PagePosition?, _ size: Int
  ) async throws -> (documents: [Document], next: PagePosition?, isCut: Bool) {
    // LIMIT and OFFSET count from the first result, not from a position.
    guard query.query.limit == nil, query.query.offset == 0 else {
      let found = try await query.limit(min(query.query.limit ?? .max, maximumPage + 1)).fetch()
      return (Array(found.prefix(maximumPage)), nil, found.count > maximumPage)
    }
    let page = try await query.after(position).page(size)
    return (page.documents, page.next, false)
  }

  /// The maximum number of documents of a page.
  private static let maximumPage = 500

  /// Returns a document with its text, for the tree and for editing.
  func document(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let found: Document?
    if let text = request["rowID"] {
      guard let rowID = Int64(text) else { throw RouteError.invalid("rowID", "a row ID") }
      found = try await collection.get(rowID: rowID)
    } else {
      found = try await collection.get(try request.required("key"))
    }
    guard let found else { throw RouteError.missing("The document") }
    let expiration = try await expiration(of: found, in: collection)
    return Self.whole(found, expires: expiration)
  }

  private func expiration(
    of document: Document, in collection: DocumentCollection
  ) async throws -> Date? {
    guard let rowID = document.rowID else { return nil }
    do {
      return try await collection.expiration(rowID: rowID)
    } catch let error as StoreError where error.code == .unsupported {
      // Not every engine has expirations.
      return nil
    }
  }

  static func whole(_ document: Document, expires: Date? = nil) -> Wire {
    let text = try? document.object().jsonString(pretty: true)
    let isShown = text.map { $0.utf8.count <= maximumText } ?? false
    return [
      "document": .document(document, .document), "bytes": .optional(text?.utf8.count),
      "json": isShown ? .optional(text) : .null,
      "expires": expires.map { .value(.date($0), .row) } ?? .null,
      "attachments": attachments(of: document),
    ]
  }

  private static func attachments(of document: Document) -> Wire {
    let fields = document[FieldPath(components: [Attachment.field])]?.object ?? DocumentObject()
    let found: [Wire] = fields.prefix(maximumAttachments).compactMap { name, value in
      guard let attachment = Attachment(value) else { return nil }
      return [
        "name": .string(name), "contentType": .string(attachment.contentType),
        "length": .int(Int(attachment.length)),
      ]
    }
    return .array(found)
  }

  /// The number of attachments that are listed; arbitrary.
  private static let maximumAttachments = 500

  /// The maximum length of a document's text in a response; arbitrary: longer texts are edited in files.
  private static let maximumText = 2 << 20

  func count(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let query = try request.query(in: collection)
    let clock = ContinuousClock()
    let start = clock.now
    let count = try await query.count()
    return [
      "count": .int(count), "milliseconds": .double((clock.now - start) / .milliseconds(1)),
    ]
  }
}
