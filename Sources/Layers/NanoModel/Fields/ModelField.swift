// SPDX-License-Identifier: MIT

import NanoDocument

/// One stored property of a model: its name in documents and what is known of it.
public struct ModelField<Root>: Sendable {
  /// What a property was marked with.
  public struct Traits: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// ``Indexed()``
    public static var indexed: Traits { Traits(rawValue: 1) }
    /// ``Unique()``
    public static var unique: Traits { Traits(rawValue: 2) }
    /// ``Key()``
    public static var key: Traits { Traits(rawValue: 4) }
    /// A document without the field is read as something that is not the same each time, such as `Date()`.
    public static var computedDefault: Traits { Traits(rawValue: 8) }
    /// ``TextIndexed()``
    public static var textIndexed: Traits { Traits(rawValue: 16) }
    /// The property leads to other documents.
    public static var relationship: Traits { Traits(rawValue: 32) }
  }

  /// The name in documents.
  public let name: String
  /// Names that older documents have instead, the latest first.
  public let formerNames: [String]
  /// What the property was marked with.
  public let traits: Traits
  let keyPath: any PartialKeyPath<Root> & Sendable
  /// The way to the property from an optional value of the type, as in `\.address?.country`.
  let optionalKeyPath: any PartialKeyPath<Root?> & Sendable
  /// The model that the property holds, as it is, as an optional or as the elements of a list.
  let nested: (any Model.Type)?
  /// Whether the property holds several values, each of which is found.
  let isList: Bool
  let isOptional: Bool
  let isInteger: Bool
  let isText: Bool
  /// What a document without the field is read as; nil if that is not the same each time.
  let missing: @Sendable () -> DocumentValue?

  /// - Parameter constant: What a document without the field is read as, if that is the same each time.
  public init<V>(
    _ name: String, _ keyPath: any KeyPath<Root, V> & Sendable,
    _ optionalKeyPath: any PartialKeyPath<Root?> & Sendable, formerNames: [String] = [],
    traits: Traits = [], constant: (@Sendable () -> V)? = nil
  ) {
    self.name = name
    self.formerNames = formerNames
    self.traits = traits
    self.keyPath = keyPath
    self.optionalKeyPath = optionalKeyPath
    // What is at the other end of a relationship stands in other documents.
    nested =
      traits.contains(.relationship)
      ? nil
      : (V.self as? any ModelHolder.Type)?.heldModel ?? V.self as? any Model.Type
    isOptional = V.self is any OptionalHolder.Type
    isInteger = V.self is any IntegerHolder.Type
    isText = V.self is any TextQueryValue.Type
    isList = V.self is any ListQueryValue.Type
    missing = { constant.flatMap { try? StoredValues.stored($0()) } }
  }
}

/// A type that holds values of one model.
protocol ModelHolder {
  static var heldModel: (any Model.Type)? { get }
}
extension Optional: ModelHolder {
  static var heldModel: (any Model.Type)? {
    Wrapped.self as? any Model.Type ?? (Wrapped.self as? any ModelHolder.Type)?.heldModel
  }
}
extension Array: ModelHolder {
  static var heldModel: (any Model.Type)? { Optional<Element>.heldModel }
}

private protocol OptionalHolder {}
extension Optional: OptionalHolder {}

/// An integer, or one that may be absent.
private protocol IntegerHolder {}
extension Optional: IntegerHolder where Wrapped: IntegerHolder {}
extension Int: IntegerHolder {}
extension Int64: IntegerHolder {}
