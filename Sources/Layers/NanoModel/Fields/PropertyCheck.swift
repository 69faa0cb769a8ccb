// SPDX-License-Identifier: MIT

public import NanoDocument

/// Compile-time checks of property types in the code that ``Model(collection:version:expires:)`` generates.
/// The result type determines whether the check passes.
public enum PropertyCheck {
  /// The result of a check that passes.
  public struct Passed {
    /// Creates the result.
    public init() {}
  }
  /// The result of a check that fails, which generated code does not accept.
  public struct Failed {
    /// Creates the result.
    public init() {}
  }

  /// Passes if documents can store the type. Called by generated code.
  public static func stored<V: FieldCodable>(_ type: V.Type) -> Passed { Passed() }
  /// Passes, since the raw value can be stored.
  public static func stored<V: RawRepresentable>(_ type: V.Type) -> Passed
  where V.RawValue: FieldCodable { Passed() }
  /// Passes, since both the value and its raw value can be stored.
  public static func stored<V: RawRepresentable & FieldCodable>(_ type: V.Type) -> Passed
  where V.RawValue: FieldCodable { Passed() }
  /// Passes, since the raw values of the elements can be stored.
  public static func stored<V: RawValueContainer>(_ type: V.Type) -> Passed { Passed() }
  /// Passes, since the container and the raw values of its elements can be stored.
  public static func stored<V: RawValueContainer & FieldCodable>(_ type: V.Type) -> Passed {
    Passed()
  }
  /// Passes, since `Codable` values can be stored.
  @_disfavoredOverload
  public static func stored<V: Codable>(_ type: V.Type) -> Passed { Passed() }
  /// Fails for all other types.
  @_disfavoredOverload
  public static func stored<V>(_ type: V.Type) -> Failed { Failed() }

  /// Passes if values of the type can be keys. Called by generated code.
  public static func key<V: ModelKey>(_ type: V.Type) -> Passed { Passed() }
  /// Fails for all other types.
  @_disfavoredOverload
  public static func key<V>(_ type: V.Type) -> Failed { Failed() }

  /// Passes if a static member has exactly the type by which it replaces a default of `Model`. Called by generated code.
  public static func has<V>(_ member: inout V, as type: V.Type) -> Passed { Passed() }
  /// Fails for all other types.
  @_disfavoredOverload
  public static func has<V, W>(_ member: inout V, as type: W.Type) -> Failed { Failed() }

  /// Passes if a text index can index values of the type. Called by generated code.
  public static func text<V: TextIndexable>(_ type: V.Type) -> Passed { Passed() }
  /// Passes, since the raw value is a string.
  public static func text<V: RawRepresentable>(_ type: V.Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  /// Passes, since the raw values of the elements are strings.
  public static func text<V: RawRepresentable>(_ type: [V].Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  /// Passes, since the raw values of the elements are strings.
  public static func text<V: RawRepresentable>(_ type: Set<V>.Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  /// Passes, since both the value and its raw value can be indexed.
  public static func text<V: RawRepresentable & TextIndexable>(_ type: V.Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  /// Fails for all other types.
  @_disfavoredOverload
  public static func text<V>(_ type: V.Type) -> Failed { Failed() }
}

/// A type that is stored as a string or a list of strings and can be indexed for full-text search.
///
/// Properties marked with ``TextIndexed()`` have such a type: strings; optionals, arrays and sets
/// of strings; and enums with string raw values, which need no conformance. Add the conformance to
/// a custom type that is encoded as a string:
///
/// ```swift
/// extension EmailAddress: TextIndexable {}
/// ```
public protocol TextIndexable {}

extension String: TextIndexable {}
extension DocumentValue: TextIndexable {}
extension Optional: TextIndexable where Wrapped: TextIndexable {}
extension Array: TextIndexable where Element: TextIndexable {}
extension Set: TextIndexable where Element: TextIndexable {}
