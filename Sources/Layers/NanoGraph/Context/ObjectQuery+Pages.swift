// SPDX-License-Identifier: MIT

import NanoModel
public import NanoQuery
import NanoStoreCore

/// A page of objects and the position of the next page.
public struct ObjectPage<Object: GraphObject> {
  /// The objects of the page, in order.
  public let objects: [Object]
  /// The position after this page; nil if there are no more objects.
  public let next: PagePosition?
}

extension ObjectQuery {
  /// Returns only results after a position that `page(_:)` returned. The query then uses stored
  /// values, since a position refers to a stored document.
  public func after(_ position: PagePosition?) -> ObjectQuery { changed(models.after(position)) }

  /// Returns the next page of results after the query's position.
  ///
  /// ```swift
  /// let songs = context.find(Song.self).sorted(by: \.title)
  /// var page = try songs.page(100)
  /// while let next = page.next { page = try songs.after(next).page(100) }
  /// ```
  ///
  /// Like `page(_:)` of ``ModelQuery``, paging neither repeats nor omits objects when others are
  /// saved in between. Pages use stored values, since a position refers to a stored document: new
  /// objects are omitted, and changed ones are evaluated by their stored values. Objects with an
  /// unsaved deletion are omitted too, so that a page can have fewer objects.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a size below 1, for a query with a limit,
  ///   and for a full-text search without a sort order.
  public func page(_ size: Int) throws -> ObjectPage<Object> {
    let page = try models.documentQuery().page(size)
    return ObjectPage(
      objects: try page.documents.compactMap { try object($0) }, next: page.next)
  }

  /// The asynchronous form of ``page(_:)``, which does not block the calling thread.
  public func page(
    _ size: Int, isolation: isolated (any Actor)? = #isolation
  ) async throws -> ObjectPage<Object> {
    let models = models
    let page = try await context.read(context.table(Object.self)) {
      try models.documentQuery().page(size)
    }
    return ObjectPage(
      objects: try page.documents.compactMap { try object($0) }, next: page.next)
  }
}
