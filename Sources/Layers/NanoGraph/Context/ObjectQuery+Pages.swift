// SPDX-License-Identifier: MIT

import NanoModel
public import NanoQuery
import NanoStoreCore

/// Some objects in a row, and where the next ones begin.
public struct ObjectPage<Object: GraphObject> {
  /// The objects of this page, in order.
  public let objects: [Object]
  /// Nil if there are no more.
  public let next: PagePosition?
}

extension ObjectQuery {
  /// Only what comes after a position that `page(_:)` returned.
  public func after(_ position: PagePosition?) -> ObjectQuery { changed(models.after(position)) }

  /// The next objects after the position at which the last page ended.
  ///
  /// ```swift
  /// let songs = context.find(Song.self).sorted(by: \.title)
  /// var page = try songs.page(100)
  /// while let next = page.next { page = try songs.after(next).page(100) }
  /// ```
  ///
  /// As `page(_:)` of ``ModelQuery``: it neither repeats nor omits objects when others are saved meanwhile. Objects
  /// that are deleted and not saved are left out, so that a page may have fewer objects.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a size below 1, and for a search by text that is not sorted.
  public func page(_ size: Int) throws -> ObjectPage<Object> {
    let page = try models.documentQuery().page(size)
    return ObjectPage(
      objects: try page.documents.compactMap { try object($0) }, next: page.next)
  }

  public func page(
    _ size: Int, isolation: isolated (any Actor)? = #isolation
  ) async throws -> ObjectPage<Object> {
    let models = models
    let page = try await models.collection.documents.onReader {
      try models.documentQuery().page(size)
    }
    return ObjectPage(
      objects: try page.documents.compactMap { try object($0) }, next: page.next)
  }
}
