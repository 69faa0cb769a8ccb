// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// The properties of a model, to write conditions with.
@dynamicMemberLookup
public struct ModelProperties<Root: Model>: Sendable {
  public init() {}

  /// A property.
  public subscript<Value>(
    dynamicMember keyPath: any KeyPath<Root, Value> & Sendable
  ) -> ModelPath<Root, Value> { ModelPath(keyPath) }
}

/// A property of a model, or one of a value in it, to write conditions with.
///
/// ```swift
/// people.find { $0.address.country == "US" }               // of a nested model, also an optional one
/// people.find { $0.friends.age > 30 }                      // some friend is over 30
/// people.find { $0.friends.element { $0.age > 30 && $0.name == "Ada" } }    // the same friend
/// people.find { $0.tags.contains("swift") && !$0.notes.isEmpty }
/// ```
@dynamicMemberLookup
public struct ModelPath<Root: Model, Value>: Sendable {
  let place: Result<FieldPlace, StoreError>

  /// A property that a key path leads to, as `\.address.country` does.
  public init(_ keyPath: any KeyPath<Root, Value> & Sendable) {
    place = Result { () throws(StoreError) in try Root.place(of: keyPath) }
  }

  init(_ place: Result<FieldPlace, StoreError>) { self.place = place }

  /// A property of the value.
  public subscript<Inner>(
    dynamicMember keyPath: any KeyPath<Value, Inner> & Sendable
  ) -> ModelPath<Root, Inner> where Value: Model { inner(Value.self, keyPath) }

  /// A property of the value, if there is one.
  public subscript<Nested: Model, Inner>(
    dynamicMember keyPath: any KeyPath<Nested, Inner> & Sendable
  ) -> ModelPath<Root, Inner?> where Value == Nested? { inner(Nested.self, keyPath) }

  /// A property of any element.
  public subscript<Nested: Model, Inner>(
    dynamicMember keyPath: any KeyPath<Nested, Inner> & Sendable
  ) -> ModelPath<Root, Inner> where Value == [Nested] { inner(Nested.self, keyPath) }

  private func inner<Nested: Model, Inner>(
    _ type: Nested.Type, _ keyPath: any AnyKeyPath & Sendable
  ) -> ModelPath<Root, Inner> {
    ModelPath<Root, Inner>(
      Result { () throws(StoreError) in
        try place.get().appending(Nested.place(of: keyPath))
      })
  }
}

extension Model {
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored.
  static func place(of keyPath: any AnyKeyPath & Sendable) throws(StoreError) -> FieldPlace {
    if let place = fieldTable.place(of: keyPath) { return place }
    throw StoreError(
      .invalidArgument, "A query names a property that is not stored as a field of a model",
      [
        .collection: collectionName, .field: "\(keyPath)",
        .hint: "properties of types that are no models are written as Field(\"a.b\")",
      ])
  }
}

extension ModelPath {
  /// A condition on the values that the property has in documents of every version.
  ///
  /// - Parameter build: The condition on an expression for the property.
  func condition(
    _ build: (QueryExpression, FieldPlace) throws(StoreError) -> Condition
  ) -> ModelCondition<Root> {
    do throws(StoreError) {
      let place = try place.get()
      if place.isKey {
        return ModelCondition(try build(.attribute(.key), place))
      }
      let expression = QueryExpression.field(place.path)
      let named = try build(expression, place)
      let holdsIfMissing = try place.missing.map { (value) throws(StoreError) in
        try Evaluator(DocumentSubject(only: place.path, value)).holds(named)
      }
      var (current, condition) = (named, named)
      if holdsIfMissing == true {
        current = named || place.onlyWithParents(.isNull(expression))
      }
      guard !place.formerPaths.isEmpty else { return ModelCondition(current) }
      var isMissing = Condition.isNull(expression)
      for path in place.formerPaths {
        condition = condition || (isMissing && (try build(.field(path), place)))
        isMissing = isMissing && .isNull(.field(path))
      }
      if holdsIfMissing == true { condition = condition || place.onlyWithParents(isMissing) }
      return ModelCondition(condition, current: current)
    } catch {
      return ModelCondition(failure: error)
    }
  }
}

extension DocumentSubject {
  /// A document with one field only.
  fileprivate init(only path: FieldPath, _ value: DocumentValue) {
    let document = path.components.reversed().reduce(value) { .object([$1: $0]) }
    self.init(document.object ?? [:])
  }
}
