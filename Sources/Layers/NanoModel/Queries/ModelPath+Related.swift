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
    case .success(let remote): related(Target.self, by: remote, condition)
    case .failure(let failure): ModelCondition(failure: failure)
    }
  }

  /// Returns a condition on the values of another model that are related to the property, for layers on top of models.
  package func related<Target: Model>(
    _ type: Target.Type, by remote: RelationKey, _ inner: ModelCondition<Target>
  ) -> ModelCondition<Root> {
    related(inner, by: remote.expression) { (local, location) in
      guard remote == .key, !location.isKey, let form = location.keyForm,
        form.matchesKeys(of: Target.self)
      else { return local }
      return form.keyText(of: local)
    }
  }

  private func related<Target: Model>(
    _ type: Target.Type, by remote: PropertyLocation, _ inner: ModelCondition<Target>
  ) -> ModelCondition<Root> {
    guard !remote.isKey else { return related(type, by: .key, inner) }
    var references = remote.referringExpression
    // Converting these rather than the key lets the condition look up keys.
    if case .success(let local) = location, local.isKey, let form = remote.keyForm,
      form.matchesKeys(of: Root.self)
    {
      references = form.keyText(of: references)
    }
    return related(inner, by: references) { (local, _) in local }
  }

  private func related<Target: Model>(
    _ inner: ModelCondition<Target>, by remote: QueryExpression,
    _ local: (QueryExpression, PropertyLocation) -> QueryExpression
  ) -> ModelCondition<Root> {
    if let failure = inner.failure { return ModelCondition(failure: failure) }
    return condition { (expression, location) throws(StoreError) in
      .related(
        RelatedCondition(
          local: local(expression, location), collection: Target.collectionName, remote: remote,
          condition: inner.condition.readingDecimalTexts { Target.decimals(at: $0) }))
    }
  }
}

extension PropertyLocation {
  /// The references in a property of related documents. Only a plain field can be joined.
  fileprivate var referringExpression: QueryExpression {
    // An empty default refers to nothing.
    let isDefaultEmpty = missing == nil || missing == .string("") || missing == .array([])
    let isPlain = steps.dropLast().allSatisfy { !$0.hasVariants } && isDefaultEmpty
    return isPlain && formerPaths.isEmpty ? .field(path) : expression
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
