// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
import NanoEngine
public import NanoQuery
public import NanoStoreCore

/// A question to the values of a model, put together step by step and asked by its last one.
///
/// ```swift
/// let page = try people.find(\.lastName == "Doe" && \.age > 30)
///   .sorted(by: \.firstName).limit(10, offset: 20).fetch()
/// let count = try people.find { $0.tags.contains("swift") }.count()
/// ```
///
/// It is a value: each step gives another one, and one may be kept and asked many times.
public struct ModelQuery<M: Model>: Sendable {
  /// The collection that is asked.
  public let collection: ModelCollection<M>
  var condition: ModelCondition<M>
  var orderings: [ModelOrdering<M>] = []
  var limit: Int?
  var offset = 0
  var after: PagePosition?
  /// How the best fit of a search comes first, where nothing else says the order.
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

  // The closure comes first: in the other order Swift 6.3 does not say what is wrong in one.
  /// Only what fulfils this condition too, written with properties.
  public func `where`(
    _ condition: (ModelProperties<M>) -> ModelCondition<M>
  ) -> ModelQuery { self.where(condition(ModelProperties())) }
  /// Only what fulfils this condition too.
  public func `where`(_ condition: ModelCondition<M>) -> ModelQuery {
    changed { $0.condition = $0.condition.isAll ? condition : $0.condition && condition }
  }

  /// Sorts by these properties, most important first, each with the smallest first. Replaces an earlier
  /// order.
  public func sorted(by keyPaths: any PartialKeyPath<M> & Sendable...) -> ModelQuery {
    sorted(using: keyPaths.map { .forward($0) })
  }
  /// Sorts by a property, in an order. Replaces an earlier order.
  ///
  /// ```swift
  /// people.find().sorted(by: \.age, order: .reverse)          // the oldest first
  /// ```
  public func sorted(by keyPath: any PartialKeyPath<M> & Sendable, order: SortOrder) -> ModelQuery {
    sorted(using: [order == .reverse ? .reverse(keyPath) : .forward(keyPath)])
  }
  /// Sorts by these orderings, most important first. Replaces an earlier order.
  public func sorted(using orderings: ModelOrdering<M>...) -> ModelQuery {
    sorted(using: orderings)
  }
  /// Sorts by these orderings, most important first. Replaces an earlier order.
  public func sorted(using orderings: [ModelOrdering<M>]) -> ModelQuery {
    changed { $0.orderings = orderings }
  }

  /// At most this many, counted after sorting and after the offset.
  ///
  /// - Parameter offset: How many to skip first; nil keeps what ``offset(_:)`` set.
  public func limit(_ limit: Int?, offset: Int? = nil) -> ModelQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }
  /// Leaves out so many at the beginning, counted after sorting.
  public func offset(_ offset: Int) -> ModelQuery { changed { $0.offset = offset } }

  /// Only what comes behind a place that `page(_:)` gave.
  public func after(_ position: PagePosition?) -> ModelQuery { changed { $0.after = position } }
}

extension ModelCollection {
  /// The values that fulfil a condition written with properties, for what key paths cannot say.
  ///
  /// ```swift
  /// people.find { $0.lastName.hasPrefix("D") && $0.friends.age > 30 }
  /// ```
  public func find(
    _ condition: (ModelProperties<M>) -> ModelCondition<M>
  ) -> ModelQuery<M> { find(condition(ModelProperties())) }

  /// The values that fulfil a condition.
  public func find(_ condition: ModelCondition<M>) -> ModelQuery<M> { ModelQuery(self, condition) }

  /// All values.
  public func find() -> ModelQuery<M> { ModelQuery(self, .all) }

  /// The values for which a predicate is true.
  ///
  /// ```swift
  /// people.find(#Predicate { $0.lastName == "Hopper" && $0.emails.contains("a@x") })
  /// ```
  ///
  /// The predicate becomes a condition of the store, so that indexes serve it; docs/MODELS-PREDICATES.md
  /// lists what can be in it. What cannot is an error, ``StoreError/Code/unsupported`` or
  /// ``StoreError/Code/invalidQuery`` with that part, when the query runs.
  public func find(_ predicate: Predicate<M>) -> ModelQuery<M> { find(ModelCondition(predicate)) }

  /// The values that fulfil a condition on the documents, with the names that fields have there.
  @_disfavoredOverload
  public func find(_ condition: Condition) -> ModelQuery<M> { find(ModelCondition(condition)) }

  /// The values that fulfil a condition written as text, with values for its parameters.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position, ``StoreError/Code/invalidArgument``.
  @_disfavoredOverload
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> ModelQuery<M> {
    let query = try documents.find(text, arguments: arguments.map(\.documentValue)).query
    guard query.orderings.isEmpty else {
      throw StoreError(
        .invalidQuery, "A condition on models has no ORDER BY", [.hint: "use sorted(by:)"])
    }
    return find(query.condition)
  }

  /// All values, by row id.
  public func fetch() throws -> [M] { try find().fetch() }
  public func fetch() async throws -> sending [M] { try await find().fetch() }
  /// How many values there are.
  public func count() throws -> Int { try documents.count() }
  public func count() async throws -> Int { try await documents.count() }
}

extension ModelQuery {
  /// The same question to the documents.
  ///
  /// Documents may have fields under former names or lack them where a default counts. Where the collection
  /// never held such names, and no document lacks the field, the question is asked without regard to them,
  /// so that indexes serve it.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if a property is not stored.
  public func documentQuery() throws -> DocumentQuery {
    if let failure = condition.failure { throw failure }
    let hasFormerNames = try hasFormerNames()
    let condition = hasFormerNames ? condition.condition : condition.current
    var query = Query(condition, limit: limit, offset: offset, after: after)
    if orderings.isEmpty { query.ranking = ranking }
    for ordering in orderings {
      query.orderings.append(
        try ordering.ordering(
          countsVariants: hasFormerNames || lacksValues(ordering)))
    }
    var question = DocumentQuery(collection.documents, query)
    if collection.store.logsUnknownFields { question.declaredNames = M.fieldTable.names }
    return question
  }

  /// Whether documents may have fields under the former names of properties that are asked for.
  private func hasFormerNames() throws -> Bool {
    let current = Set(condition.current.fields)
    var former = Set(condition.condition.fields).subtracting(current)
    for ordering in orderings { former.formUnion(try ordering.place.get().formerPaths) }
    guard !former.isEmpty else { return false }
    return try collection.documents.observedPaths().contains { observed in
      former.contains(observed.field)
    }
  }

  /// Whether some document lacks a field that counts with a default: then an index has another order.
  private func lacksValues(_ ordering: ModelOrdering<M>) throws -> Bool {
    let place = try ordering.place.get()
    guard place.hasVariants, !place.isKey else { return false }
    guard M.fieldTable.isIndexed(place.path) else { return true }
    return try collection.documents.find(.isNull(.field(place.path))).withoutFieldCheck.exists()
  }
}
