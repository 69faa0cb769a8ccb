// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
import NanoEngine
public import NanoQuery
public import NanoStoreCore

/// A query over the values of a model, built step by step and executed by its terminal method.
///
/// ```swift
/// let page = try people.find(\.lastName == "Doe" && \.age > 30)
///   .sorted(by: \.firstName).limit(10, offset: 20).fetch()
/// let count = try people.find { $0.tags.contains("swift") }.count()
/// ```
///
/// A query is a value: each step returns a new query, and a query can be executed any number of
/// times.
public struct ModelQuery<M: Model>: Sendable {
  /// The collection that the query reads.
  public let collection: ModelCollection<M>
  var condition: ModelCondition<M>
  var orderings: [ModelOrdering<M>] = []
  var limit: Int?
  var offset = 0
  var after: PagePosition?
  /// The ranking of a full-text search, used if the query has no other order.
  var ranking: FullTextRanking?

  init(_ collection: ModelCollection<M>, _ condition: ModelCondition<M>) {
    self.collection = collection
    self.condition = condition
  }

  func changed(_ change: (inout ModelQuery) -> Void) -> ModelQuery {
    var copy = self
    change(&copy)
    return copy
  }

  // The overload with a closure comes first: in the other order, Swift 6.3 does not diagnose errors
  // in the closure.
  /// Adds a condition on properties, which results must also satisfy.
  public func `where`(
    _ condition: (ModelProperties<M>) -> ModelCondition<M>
  ) -> ModelQuery { self.where(condition(ModelProperties())) }
  /// Adds a condition, which results must also satisfy.
  public func `where`(_ condition: ModelCondition<M>) -> ModelQuery {
    changed { $0.condition = $0.condition.isAll ? condition : $0.condition && condition }
  }

  /// Sorts by properties in ascending order, most significant first. Replaces an earlier order.
  public func sorted(by keyPaths: any PartialKeyPath<M> & Sendable...) -> ModelQuery {
    sorted(using: keyPaths.map { .forward($0) })
  }
  /// Sorts by a property in the given order. Replaces an earlier order.
  ///
  /// ```swift
  /// people.find().sorted(by: \.age, order: .reverse)          // the oldest first
  /// ```
  public func sorted(by keyPath: any PartialKeyPath<M> & Sendable, order: SortOrder) -> ModelQuery {
    sorted(using: [order == .reverse ? .reverse(keyPath) : .forward(keyPath)])
  }
  /// Sorts by orderings, most significant first. Replaces an earlier order.
  public func sorted(using orderings: ModelOrdering<M>...) -> ModelQuery {
    sorted(using: orderings)
  }
  /// Sorts by orderings, most significant first. Replaces an earlier order.
  public func sorted(using orderings: [ModelOrdering<M>]) -> ModelQuery {
    changed { $0.orderings = orderings }
  }

  /// Limits the number of results, after sorting and after the offset.
  ///
  /// - Parameter offset: The number of results to skip; nil keeps the offset of ``offset(_:)``.
  public func limit(_ limit: Int?, offset: Int? = nil) -> ModelQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }
  /// Skips the given number of results, after sorting.
  public func offset(_ offset: Int) -> ModelQuery { changed { $0.offset = offset } }

  /// Returns only results after a position that `page(_:)` returned.
  public func after(_ position: PagePosition?) -> ModelQuery { changed { $0.after = position } }
}

extension ModelCollection {
  /// Returns a query with a condition on properties, which can express more than key paths.
  ///
  /// ```swift
  /// people.find { $0.lastName.hasPrefix("D") && $0.friends.age > 30 }
  /// ```
  public func find(
    _ condition: (ModelProperties<M>) -> ModelCondition<M>
  ) -> ModelQuery<M> { find(condition(ModelProperties())) }

  /// Returns a query with a condition.
  public func find(_ condition: ModelCondition<M>) -> ModelQuery<M> { ModelQuery(self, condition) }

  /// Returns a query for all values.
  public func find() -> ModelQuery<M> { ModelQuery(self, .all) }

  /// Returns a query with a Foundation predicate.
  ///
  /// ```swift
  /// people.find(#Predicate { $0.lastName == "Hopper" && $0.emails.contains("a@x") })
  /// ```
  ///
  /// The predicate is translated to a condition of the store and can use indexes;
  /// docs/MODELS-PREDICATES.md lists the supported expressions. For others, executing the query
  /// throws ``StoreError/Code/unsupported`` or ``StoreError/Code/invalidQuery`` with the
  /// expression.
  public func find(_ predicate: Predicate<M>) -> ModelQuery<M> { find(ModelCondition(predicate)) }

  /// Returns a query with a condition on the fields of documents, with their stored names.
  @_disfavoredOverload
  public func find(_ condition: Condition) -> ModelQuery<M> { find(ModelCondition(condition)) }

  /// Returns a query with a condition in the query language and the values of its parameters.
  ///
  /// The text can limit the results with `LIMIT` and `OFFSET`, but not sort them.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position,
  ///   ``StoreError/Code/invalidArgument``.
  @_disfavoredOverload
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> ModelQuery<M> {
    let query = try documents.find(text, arguments: arguments.map(\.documentValue)).query
    guard query.orderings.isEmpty else {
      throw StoreError(
        .invalidQuery, "A condition on models cannot contain ORDER BY", [.hint: "use sorted(by:)"])
    }
    return find(query.condition).limit(query.limit, offset: query.offset)
  }

  /// Returns all values, ordered by row ID.
  public func fetch() throws -> [M] { try find().fetch() }
  /// The asynchronous form of `fetch()`, which does not block the calling thread.
  public func fetch() async throws -> sending [M] { try await find().fetch() }
  /// Returns the number of values.
  public func count() throws -> Int { try documents.count() }
  /// The asynchronous form of ``count()``, which does not block the calling thread.
  public func count() async throws -> Int { try await documents.count() }
}

extension ModelQuery {
  /// Returns the equivalent query over documents.
  ///
  /// Documents can store fields under former names, or lack fields that have a default. If the
  /// collection never contained such names and no document lacks the field, the query ignores these
  /// cases, so that it can use indexes.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if a property is not stored.
  public func documentQuery() throws -> DocumentQuery { try documentQuery(order: .current) }

  /// How documents count in an order that lack a field with a default.
  enum DefaultOrder {
    /// By the default if there are such documents now.
    case current
    /// By the default.
    case defaults
    /// As null if an index of the model serves the order.
    case indexed
  }

  func documentQuery(order: DefaultOrder) throws -> DocumentQuery {
    if let failure = condition.failure { throw failure }
    let hasFormerNames = try hasFormerNames()
    let texts = try decimalTexts()
    var condition = hasFormerNames ? condition.condition : condition.current
    func decimals(_ path: FieldPath) -> DecimalForm? {
      texts.contains(path) ? M.decimals(at: path) : nil
    }
    if !texts.isEmpty { condition = condition.readingDecimalTexts(decimals) }
    var query = Query(condition, limit: limit, offset: offset, after: after)
    if orderings.isEmpty { query.ranking = ranking }
    for ordering in orderings {
      var ordering = try ordering.ordering(
        includesVariants: order != .indexed && hasFormerNames
          || usesDefaults(in: ordering, order))
      if !texts.isEmpty {
        ordering.expression = ordering.expression.readingDecimalTexts(decimals)
      }
      query.orderings.append(ordering)
    }
    var documentQuery = DocumentQuery(collection.documents, query)
    if collection.store.logsUnknownFields { documentQuery.declaredNames = M.fieldTable.names }
    return documentQuery
  }

  /// Returns whether documents can contain former names of the properties in the query.
  private func hasFormerNames() throws -> Bool {
    var former = condition.formerPaths
    for ordering in orderings { former.formUnion(try ordering.location.get().formerPaths) }
    guard !former.isEmpty else { return false }
    let catalog = PathCatalog(try collection.documents.observedPaths())
    return former.contains { catalog.mayContain($0) }
  }

  /// Returns the properties in the query that hold decimals, and that documents can store as text.
  private func decimalTexts() throws -> Set<FieldPath> {
    guard M.fieldTable.mayHoldDecimals else { return [] }
    var paths = Set(condition.condition.fields)
    for ordering in orderings {
      let location = try ordering.location.get()
      paths.formUnion([location.path] + location.formerPaths)
    }
    paths = paths.filter { M.holdsDecimals($0) }
    return paths.isEmpty ? [] : try collection.documents.observedPaths().holdingText(of: paths)
  }

  /// Returns whether documents that lack the field of an ordering count with its default, for which no index has the
  /// order.
  private func usesDefaults(
    in ordering: ModelOrdering<M>, _ order: DefaultOrder
  ) throws -> Bool {
    guard let path = try ordering.defaultedPath() else { return false }
    guard order != .defaults, M.fieldTable.isIndexed(path) else { return true }
    guard order == .current else { return false }
    return try collection.documents.find(.isNull(.field(path))).withoutFieldCheck.exists()
  }
}
