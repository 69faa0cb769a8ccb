// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoQuery
public import NanoStoreCore

extension ModelQuery where M: Sendable {
  /// Returns a live view of the results: a sequence of the current results, followed by new results
  /// after each commit that changes them.
  ///
  /// ```swift
  /// for try await adults in people.find(\.age > 30).sorted(by: \.lastName).updates() {
  ///   await list.show(adults)
  /// }
  /// ```
  ///
  /// Like ``DocumentQuery/updates()``, with values instead of documents. Former names are
  /// considered if the collection contained them when this method was called.
  ///
  /// - Throws: During iteration, the errors of ``DocumentQuery/updates()`` and ``fetch()-()->[M]``,
  ///   including ``StoreError/Code/invalidArgument`` if a property is not stored. An error ends the
  ///   loop.
  public func updates() -> DocumentUpdates<M> {
    let decoder = collection.decoder
    return DocumentUpdates(
      evaluator: evaluator { $0.decodedUpdates { try decoder.value($0) }.evaluator })
  }

  /// Returns a live view of the first result, or nil if there is none.
  ///
  /// ```swift
  /// for try await oldest in people.find().sorted(by: .reverse(\.age)).firstUpdates() { … }
  /// ```
  ///
  /// - Throws: During iteration, the errors of ``updates()``. An error ends the loop.
  public func firstUpdates() -> ValueUpdates<M?> {
    let decoder = collection.decoder
    return ValueUpdates(
      evaluator: evaluator { $0.firstUpdates { try decoder.value($0) }.evaluator })
  }
}

extension ModelQuery {
  /// Returns a sequence of the number of results: the current one, and a new one after each commit
  /// that changes it.
  ///
  /// - Throws: During iteration, the errors of ``count()-()->Int``, including
  ///   ``StoreError/Code/invalidArgument`` if a property is not stored. An error ends the loop.
  public func countUpdates() -> ValueUpdates<Int> {
    // The order decides which values follow the position.
    guard after != nil else { return liveQuery.countUpdates() }
    return ValueUpdates(evaluator: evaluator { $0.countUpdates().evaluator })
  }

  /// The equivalent query over documents. If there is none, a query that throws the reason when it
  /// is executed.
  var liveQuery: DocumentQuery { liveQuery(order: .current) }

  private func liveQuery(order: DefaultOrder) -> DocumentQuery {
    do {
      return try documentQuery(order: order)
    } catch {
      let reason = error as? StoreError ?? StoreError(.interrupted, "The query was canceled")
      return collection.documents.failing(with: reason).find()
    }
  }

  /// Returns a live query of the documents, for layers on top of models.
  package func documentUpdates() throws -> DocumentUpdates<Document> {
    _ = try documentQuery()
    return DocumentUpdates(evaluator: evaluator { $0.updates().evaluator })
  }

  /// Creates an evaluator in the order of the properties' values.
  ///
  /// Each evaluation finds out whether an index has this order: a document that is written later can lack a field that
  /// has a default.
  private func evaluator<Value: Sendable>(
    _ make: (DocumentQuery) -> LiveQueryEvaluator<Value>
  ) -> LiveQueryEvaluator<Value> {
    let general = make(liveQuery(order: .defaults))
    let paths = orderings.compactMap { try? $0.defaultedPath() }
      .filter { M.fieldTable.isIndexed($0) }
    // Engines without SQL, such as encrypted ones, sort the documents that they have read, so that the check would
    // only read more of them.
    let sortsByIndex = (try? collection.store.engine().capabilities.contains(.sql)) ?? false
    guard !paths.isEmpty, sortsByIndex else { return general }
    let indexed = make(liveQuery(order: .indexed))
    let lacking = Query(.any(paths.map { .isNull(.field($0)) }), limit: 1)
    return LiveQueryEvaluator(general, isSnapshot: true) {
      [name = collection.documents.name] reader in
      let lacks = try reader.count(lacking, in: name) > 0
      return try (lacks ? general : indexed).read(reader)
    }
  }
}

extension LiveResults where Element: Model & Sendable {
  /// Creates live results of a query over a model.
  ///
  /// ```swift
  /// let adults = LiveResults(people.find(\.age > 30).sorted(by: \.lastName))
  /// ```
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - loading: When the query is first evaluated.
  ///   - interval: The minimum time between two evaluations, at most a day.
  ///   - isolation: The actor that the results belong to.
  public convenience init(
    _ query: ModelQuery<Element>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    self.init(query.updates(), loading: loading, interval: interval, isolation: isolation)
  }

  /// Changes the query; the elements remain until those of the new query exist.
  public func change(to query: ModelQuery<Element>) { change(to: query.updates()) }
}
