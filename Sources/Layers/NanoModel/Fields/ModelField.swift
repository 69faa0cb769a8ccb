// SPDX-License-Identifier: MIT

import NanoDocument

/// The name and the metadata of a stored property.
public struct ModelField<Root>: Sendable {
  /// The attributes that a property is declared with.
  public struct Traits: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int
    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The property is marked with ``Indexed()``.
    public static var indexed: Traits { Traits(rawValue: 1) }
    /// The property is marked with ``Unique()``.
    public static var unique: Traits { Traits(rawValue: 2) }
    /// The property is marked with ``Key()``.
    public static var key: Traits { Traits(rawValue: 4) }
    /// The default of the property can differ between evaluations, such as `Date()`.
    public static var computedDefault: Traits { Traits(rawValue: 8) }
    /// The property is marked with ``TextIndexed()``.
    public static var textIndexed: Traits { Traits(rawValue: 16) }
    /// The property refers to other documents.
    public static var relationship: Traits { Traits(rawValue: 32) }
  }

  /// The name of the field in documents.
  public let name: String
  /// The names of the field in older documents, most recent first.
  public let formerNames: [String]
  /// The attributes that the property is declared with.
  public let traits: Traits
  let keyPath: any PartialKeyPath<Root> & Sendable
  /// The key path from an optional value of the type, as in `\.address?.country`.
  let optionalKeyPath: any PartialKeyPath<Root?> & Sendable
  /// The model type of the property's value, of its optional, or of its elements.
  let nested: (any Model.Type)?
  /// The model type of the values of the property's dictionary.
  let entry: (any Model.Type)?
  /// Whether the property holds an attachment, its optional, or an array of attachments.
  let isAttachment: Bool
  /// Whether the property holds a list, whose elements are matched individually.
  let isList: Bool
  /// Whether a stored null is a value of the property.
  let isOptional: Bool
  let isInteger: Bool
  /// How the property stores keys that are not stored as their text.
  let keyForm: KeyForm?
  /// The type of the property if it is the key of the document.
  let keyType: (any ModelKey.Type)?
  let isText: Bool
  /// Whether the property holds a decimal, or a collection of decimals.
  let isDecimal: Bool
  /// Whether the property holds a list or a dictionary.
  let isCollection: Bool
  /// Returns the value that a document without the field is read with, or nil if it is not
  /// constant.
  let missing: @Sendable () -> DocumentValue?

  /// Describes a stored property. Called by generated code.
  ///
  /// - Parameter constant: Returns the value that a document without the field is read with, if it
  ///   is constant.
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
    // Related objects are stored in other documents.
    nested =
      traits.contains(.relationship)
      ? nil
      : (V.self as? any ModelHolder.Type)?.heldModel ?? V.self as? any Model.Type
    isAttachment = V.self is any AttachmentHolder.Type
    isOptional = V.self is any OptionalHolder.Type
    let kind = StoredType(V.self).kind
    isInteger = kind.isInteger
    keyForm = kind.keyForm
    keyType = traits.contains(.key) ? V.self as? any ModelKey.Type : nil
    isText = V.self is any TextQueryValue.Type
    isDecimal = kind.isDecimal
    isCollection = kind.isCollection
    entry = (V.self as? any ModelEntryHolder.Type)?.entryModel
    isList = V.self is any ListQueryValue.Type
    missing = { constant.flatMap { try? StoredValues.stored($0()) } }
  }
}

/// A type that contains values of a model.
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

/// A type that contains dictionaries with values of a model.
protocol ModelEntryHolder {
  static var entryModel: (any Model.Type)? { get }
}
extension Dictionary: ModelEntryHolder {
  static var entryModel: (any Model.Type)? { Optional<Value>.heldModel }
}
extension Optional: ModelEntryHolder {
  static var entryModel: (any Model.Type)? {
    (Wrapped.self as? any ModelEntryHolder.Type)?.entryModel
  }
}
extension Array: ModelEntryHolder {
  static var entryModel: (any Model.Type)? { Optional<Element>.entryModel }
}

/// A type with a value that is stored as null.
private protocol OptionalHolder {}
extension Optional: OptionalHolder {}
extension DocumentValue: OptionalHolder {}
