// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

/// A page of documents, and the position of the next page.
public struct DocumentPage: Sendable {
  /// The documents of this page, in order.
  public let documents: [Document]
  /// The position to continue from; nil if this is the last page.
  public let next: PagePosition?
}

extension DocumentQuery {
  /// Returns the next page of documents.
  ///
  /// ```swift
  /// var page = try films.find().sorted(by: "year").page(100)
  /// while let next = page.next {
  ///   page = try films.find().sorted(by: "year").after(next).page(100)
  /// }
  /// ```
  ///
  /// Unlike an offset, a page position neither repeats nor skips documents when others are inserted
  /// or deleted in the meantime, and a late page costs no more than the first. An offset of the query applies to the first
  /// page only.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a size below 1, for a query with a limit,
  ///   which could not be counted over several pages, and for a full-text search sorted by rank.
  public func page(_ size: Int) throws -> DocumentPage {
    guard size > 0 else {
      throw StoreError(.invalidArgument, "The page size must be at least 1", [.actual: "\(size)"])
    }
    guard !query.isRanked else {
      throw StoreError(
        .invalidArgument, "Ranked results do not support page positions",
        [.hint: "use limit and offset, or sort by a field"])
    }
    if let limit = query.limit {
      throw StoreError(
        .invalidArgument, "A query with a limit cannot be read in pages",
        [.actual: "\(limit)", .hint: "pass the number of documents to page(_:) instead"])
    }
    // One more document determines whether there is a next page.
    let pageQuery = limit(size == .max ? nil : size + 1)
    try pageQuery.validate()
    var engineQuery = pageQuery.query
    // An offset counts from the first result, which a later page is beyond.
    if query.after != nil { engineQuery.offset = 0 }
    // Engines do not read bodies if no fields are selected, but the position contains values from them.
    if query.fields?.isEmpty == true, query.orderings.contains(where: \.readsBody) {
      engineQuery.fields = nil
    }
    var documents: [Document] = []
    var position: PagePosition?
    var hasMore = false
    let fields = query.fields
    let cache = fields == nil ? collection.store.cache[collection.name] : nil
    try collection.reading(.snapshot) { reader in
      let defaults =
        query.orderings.isEmpty
        ? nil : FieldDefaults(try reader.settings(of: collection.name).defaults)
      // Engines read related documents for their own evaluation only.
      let orderings = try reader.readingRelated(Query(orderings: query.orderings)).orderings
      let compiledOrderings = orderings.map { CompiledOrdering($0, defaults: defaults) }
      try reader.find(engineQuery, in: collection.name) { stored in
        if documents.count == size {
          hasMore = true
          return false
        }
        documents.append(
          try cache.map { cache in
            let state = try reader.committedState()
            return cache.document(
              stored, in: collection.name, isCommitted: state != nil, state
            ).document
          } ?? document(stored, fields))
        if documents.count == size { position = try Self.position(stored, compiledOrderings) }
        return true
      }
    }
    return DocumentPage(documents: documents, next: hasMore ? position : nil)
  }
  /// The asynchronous form of `page(_:)`, which does not block the calling thread.
  public func page(_ size: Int) async throws -> DocumentPage {
    try await onReader { try $0.page(size) }
  }

  static func position(
    _ stored: StoredDocument, _ compiledOrderings: [CompiledOrdering]
  ) throws(StoreError) -> PagePosition {
    var values: [DocumentValue] = []
    for compiledOrdering in compiledOrderings {
      values.append(try compiledOrdering.value(stored.body) { stored.value(of: $0) })
    }
    return PagePosition(values: values, rowID: stored.rowID)
  }
}

extension Ordering {
  /// Whether the values to sort by may come from the body.
  fileprivate var readsBody: Bool {
    if case .attribute = expression { return false }
    return true
  }
}
