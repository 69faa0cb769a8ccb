// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery
public import NanoStoreCore

/// The properties of a model, for writing conditions.
@dynamicMemberLookup
public struct ModelProperties<Root: Model>: Sendable {
  /// Whether the values are parts of documents, where no property is the document's key.
  var areNested = false

  /// Creates the properties of the model.
  public init() {}

  /// Returns a property.
  public subscript<Value>(
    dynamicMember keyPath: any KeyPath<Root, Value> & Sendable
  ) -> ModelPath<Root, Value> {
    let path = ModelPath(keyPath)
    guard areNested else { return path }
    return ModelPath(
      path.location.map { location in
        var location = location
        location.isNested = true
        return location
      })
  }
}

/// A property of a model or of a nested value, for writing conditions.
///
/// ```swift
/// people.find { $0.address.country == "US" }               // of a nested model, optional or not
/// people.find { $0.friends.age > 30 }                      // some friend is over 30
/// people.find { $0.friends.element { $0.age > 30 && $0.name == "Ada" } }    // the same friend
/// people.find { $0.tags.contains("swift") && !$0.notes.isEmpty }
/// ```
@dynamicMemberLookup
public struct ModelPath<Root: Model, Value>: Sendable {
  let location: Result<PropertyLocation, StoreError>

  /// Creates the property that a key path refers to, such as `\.address.country`.
  public init(_ keyPath: any KeyPath<Root, Value> & Sendable) {
    location = Result { () throws(StoreError) in try Root.location(of: keyPath) }
  }

  init(_ location: Result<PropertyLocation, StoreError>) { self.location = location }

  /// Returns a property of the value.
  public subscript<Inner>(
    dynamicMember keyPath: any KeyPath<Value, Inner> & Sendable
  ) -> ModelPath<Root, Inner> where Value: Model { inner(Value.self, keyPath) }

  /// Returns a property of an optional value.
  public subscript<Nested: Model, Inner>(
    dynamicMember keyPath: any KeyPath<Nested, Inner> & Sendable
  ) -> ModelPath<Root, Inner?> where Value == Nested? { inner(Nested.self, keyPath) }

  /// Returns a property of the elements; conditions hold if they hold for any element.
  public subscript<Nested: Model, Inner>(
    dynamicMember keyPath: any KeyPath<Nested, Inner> & Sendable
  ) -> ModelPath<Root, Inner> where Value == [Nested] { inner(Nested.self, keyPath) }

  /// Returns a property of a reference to an attachment, such as its length.
  public subscript<Inner>(
    dynamicMember keyPath: any KeyPath<Attachment, Inner> & Sendable
  ) -> ModelPath<Root, Inner> where Value == Attachment { ofAttachment(keyPath) }
  /// Returns a property of an optional reference to an attachment.
  public subscript<Inner>(
    dynamicMember keyPath: any KeyPath<Attachment, Inner> & Sendable
  ) -> ModelPath<Root, Inner?> where Value == Attachment? { ofAttachment(keyPath) }
  /// Returns a property of references to attachments; conditions hold if they hold for any reference.
  public subscript<Inner>(
    dynamicMember keyPath: any KeyPath<Attachment, Inner> & Sendable
  ) -> ModelPath<Root, Inner> where Value == [Attachment] { ofAttachment(keyPath) }

  /// Returns the entry of a dictionary for a name; nil where it has none.
  ///
  /// ```swift
  /// sensors.find { $0.readings["temperature"] > 30 }
  /// ```
  public subscript<Entry>(name: String) -> ModelPath<Root, Entry?> where Value == [String: Entry] {
    entry(name, Entry.self)
  }
  /// Returns the entry of an optional dictionary for a name; nil where there is no dictionary or no
  /// entry.
  public subscript<Entry>(name: String) -> ModelPath<Root, Entry?>
  where Value == [String: Entry]? { entry(name, Entry.self) }

  private func entry<Entry>(_ name: String, _ type: Entry.Type) -> ModelPath<Root, Entry?> {
    ModelPath<Root, Entry?>(
      location.map { $0.appending(PropertyLocation(steps: [FieldStep(entry: name, Entry.self)])) })
  }

  private func ofAttachment<Inner>(
    _ keyPath: any AnyKeyPath & Sendable
  ) -> ModelPath<Root, Inner> {
    ModelPath<Root, Inner>(
      Result { () throws(StoreError) in
        guard let inner = FieldTable.ofAttachments.location(of: keyPath) else {
          throw Attachment.isNotStored("\(keyPath)")
        }
        return try location.get().appending(inner)
      })
  }

  private func inner<Nested: Model, Inner>(
    _ type: Nested.Type, _ keyPath: any AnyKeyPath & Sendable
  ) -> ModelPath<Root, Inner> {
    ModelPath<Root, Inner>(
      Result { () throws(StoreError) in
        let location = try location.get()
        try location.checkHolds(type)
        return location.appending(try Nested.location(of: keyPath))
      })
  }
}

extension PropertyLocation {
  /// Checks that values of a model are stored in this field. Related objects are stored in other
  /// documents, which a condition cannot reach.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` if the model's values are stored in other documents.
  func checkHolds(_ model: any Model.Type) throws(StoreError) {
    guard model is AnyClass else { return }
    throw StoreError(
      .unsupported, "A condition refers to a property of related objects",
      [
        .collection: model.collectionName, .field: path.description,
        .hint: "write { $0.relationship.has { … } }",
      ])
  }
}

extension Attachment {
  fileprivate static func isNotStored(_ property: String) -> StoreError {
    StoreError(
      .invalidArgument, "A query names a property of an attachment that is not stored",
      [.field: property, .hint: "digest, length and contentType are stored"])
  }
}

extension Model {
  /// Returns the field that a property is stored in, or nil if it is not stored as a field.
  package static func fieldName(of keyPath: any AnyKeyPath & Sendable) -> String? {
    guard let steps = fieldTable.location(of: keyPath)?.steps, steps.count == 1 else { return nil }
    return steps[0].name
  }

  /// Returns the location of the property that a key path refers to.
  ///
  /// - Parameter isChanged: Whether an update names the property, rather than a query.
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored.
  static func location(
    of keyPath: any AnyKeyPath & Sendable, isChanged: Bool = false
  ) throws(StoreError) -> PropertyLocation {
    if let location = fieldTable.location(of: keyPath) { return location }
    let (subject, hint) =
      isChanged
      ? (
        "An update",
        "for entries of dictionaries and properties of types that are not models, set the whole property, or use documents.update(key, set: [\"name.entry\": value])"
      )
      : (
        "A query",
        "for entries of dictionaries, write a closure as { $0.name[\"entry\"] == nil }; for properties of types that are not models, use Field(\"a.b\")"
      )
    throw StoreError(
      .invalidArgument, "\(subject) names a property that is not stored as a field of a model",
      [.collection: collectionName, .field: "\(keyPath)", .hint: hint])
  }
}

extension ModelPath {
  /// Returns a condition on the decoded values of the property, for documents of all versions.
  ///
  /// - Parameter build: Returns the condition for an expression of the property.
  func condition(
    _ build: (QueryExpression, PropertyLocation) throws(StoreError) -> Condition
  ) -> ModelCondition<Root> {
    do throws(StoreError) {
      let location = try location.get()
      func named(_ path: FieldPath) throws(StoreError) -> Condition {
        try build(.field(path), location)
      }
      if location.isKey { return ModelCondition(try build(.attribute(.key), location)) }
      let current = try Condition(location.steps[...], [], formerNames: false, named)
      guard location.steps.contains(where: { !$0.formerNames.isEmpty }) else {
        return ModelCondition(current)
      }
      return ModelCondition(
        try Condition(location.steps[...], [], formerNames: true, named), current: current)
    } catch {
      return ModelCondition(failure: error)
    }
  }
}

extension ModelPath {
  /// Returns a condition on the property, for layers on top of models.
  package func condition(
    onField build: (QueryExpression) -> Condition
  ) -> ModelCondition<Root> {
    condition { (expression, _) throws(StoreError) in build(expression) }
  }
}

extension Condition {
  /// Creates the condition that the decoded value of a property satisfies a condition.
  ///
  /// - Parameter named: Returns the condition on the value at a path.
  fileprivate init(
    _ steps: ArraySlice<FieldStep>, _ base: [String], formerNames: Bool,
    _ named: (FieldPath) throws(StoreError) -> Condition
  ) throws(StoreError) {
    let cases = PropertyLocation.cases(steps, base, formerNames)
    let path = FieldPath(components: base + steps.map(\.name))
    let plain = try named(path)
    let holdsForMissing = try Evaluator(DocumentSubject([:])).holds(plain)
    var found: [Condition] = []
    var open = Condition.constant(true)
    search: for (index, current) in cases.enumerated() {
      switch current.content {
      case .path(let path):
        let holdsAtPath = try named(path)
        // Only the case without a value remains, which the condition itself covers.
        if index == cases.count - 2, case .nothing = cases[index + 1].content {
          found.append(open.and(holdsAtPath))
          break search
        }
        found.append(open.and(holdsForMissing ? current.when.and(holdsAtPath) : holdsAtPath))
      case .elements(let list, let rest):
        let inner: Condition =
          rest.contains(where: \.hasVariants)
          ? .element(list, try Condition(rest, [], formerNames: formerNames, named))
          : try named(list.appending(FieldPath(components: rest.map(\.name))))
        found.append(open.and(holdsForMissing ? current.when.and(inner) : inner))
      case .constant(let location, let value):
        // Evaluated as if the default were stored under the current names.
        let today = path[0..<location.components.count]
        if plain.hasUnreadRelated, today == path {
          // The related documents of the default are not known yet.
          let related = plain.replacingRelated { related in
            var related = related
            related.local = related.local.replacingExpressions { (expression: QueryExpression) in
              expression == .field(path) ? QueryExpression.value(value) : nil
            }
            return .related(related)
          }
          found.append(open.and(current.when).and(related))
          open = open.and(current.when.opposite)
          continue search
        }
        if try Evaluator(DocumentSubject(only: today, value)).holds(plain) {
          found.append(open.and(current.when))
        }
      case .nothing:
        if holdsForMissing { found.append(open.and(current.when)) }
      }
      open = open.and(current.when.opposite)
    }
    self = found.reduce(.constant(false)) { $0.or($1) }
  }
}
