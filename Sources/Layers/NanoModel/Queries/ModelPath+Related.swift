// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery
public import NanoStoreCore

extension ModelPath {
  /// Returns a condition on the values of another model that the property refers to by their keys.
  ///
  /// ```swift
  /// films.find { $0.directorID.refers(to: Person.self) { $0.country == "UK" } }
  /// ```
  ///
  /// The condition must hold for one of the values that the property refers to. An array refers to several values.
  public func refers<Target: Model>(
    to type: Target.Type, _ condition: (ModelProperties<Target>) -> ModelCondition<Target>
  ) -> ModelCondition<Root> { refers(to: type, condition(ModelProperties())) }

  /// Returns a condition that the property refers to a value of another model by its key; with a condition, to a value
  /// that satisfies it.
  public func refers<Target: Model>(
    to type: Target.Type, _ condition: ModelCondition<Target> = .all
  ) -> ModelCondition<Root> { related(type, by: .key, condition) }

  /// Returns a condition on the values of another model whose property refers to this one.
  ///
  /// ```swift
  /// films.find { $0.id.isReferred(by: \Review.filmID) { $0.stars > 4 } }
  /// ```
  public func isReferred<Target: Model, Property>(
    by property: any KeyPath<Target, Property> & Sendable,
    _ condition: (ModelProperties<Target>) -> ModelCondition<Target>
  ) -> ModelCondition<Root> { isReferred(by: property, condition(ModelProperties())) }

  /// Returns a condition that a property of another model refers to this one; with a condition, in a value that
  /// satisfies it.
  public func isReferred<Target: Model, Property>(
    by property: any KeyPath<Target, Property> & Sendable,
    _ condition: ModelCondition<Target> = .all
  ) -> ModelCondition<Root> {
    switch ModelPath<Target, Property>(property).location {
    case .success(let location):
      related(Target.self, by: location.isKey ? .key : .field(location.path), condition)
    case .failure(let failure): ModelCondition(failure: failure)
    }
  }

  /// Returns a condition on the values of another model that are related to the property, for layers on top of models.
  package func related<Target: Model>(
    _ type: Target.Type, by remote: RelationKey, _ inner: ModelCondition<Target>
  ) -> ModelCondition<Root> {
    if let failure = inner.failure { return ModelCondition(failure: failure) }
    return condition { (local, _) throws(StoreError) in
      .related(
        RelatedCondition(
          local: local, collection: Target.collectionName, remote: remote.expression,
          condition: inner.condition.readingDecimalTexts(Target.holdsDecimals)))
    }
  }
}

extension IncludingQuery {
  /// Returns the matching documents decoded as a model, with the related documents as the values of its properties.
  ///
  /// A related document is decoded as a nested model, from its fields: a property that is the key of the nested model
  /// has to be one of them.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the document and the field if a document does not decode, and the
  ///   errors of the model's upgrades.
  public func decoded<M: Model>(as type: M.Type = M.self) throws -> [M] {
    let decoder = ModelDecoder<M>(query.collection.name)
    return try decoded { try decoder.value($0) }
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  public func decoded<M: Model>(as type: M.Type = M.self) async throws -> sending [M] {
    try await query.collection.fromReader { try self.decoded(as: type) }
  }
}
