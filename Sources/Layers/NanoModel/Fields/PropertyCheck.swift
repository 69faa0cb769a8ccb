// SPDX-License-Identifier: MIT

public import NanoDocument

/// What the code that ``Model(collection:version:)`` writes asks the compiler about the type of a property. The type
/// of the result says whether it passes.
public enum PropertyCheck {
  public struct Passed {
    public init() {}
  }
  public struct Failed {
    public init() {}
  }

  /// Whether documents can hold the type.
  public static func stored<V: FieldCodable>(_ type: V.Type) -> Passed { Passed() }
  public static func stored<V: RawRepresentable>(_ type: V.Type) -> Passed
  where V.RawValue: FieldCodable { Passed() }
  public static func stored<V: RawRepresentable & FieldCodable>(_ type: V.Type) -> Passed
  where V.RawValue: FieldCodable { Passed() }
  public static func stored<V: RawValueContainer>(_ type: V.Type) -> Passed { Passed() }
  public static func stored<V: RawValueContainer & FieldCodable>(_ type: V.Type) -> Passed {
    Passed()
  }
  @_disfavoredOverload
  public static func stored<V: Codable>(_ type: V.Type) -> Passed { Passed() }
  @_disfavoredOverload
  public static func stored<V>(_ type: V.Type) -> Failed { Failed() }

  /// Whether values of the type are keys.
  public static func key<V: ModelKey>(_ type: V.Type) -> Passed { Passed() }
  @_disfavoredOverload
  public static func key<V>(_ type: V.Type) -> Failed { Failed() }

  /// Whether a text index finds values of the type.
  public static func text<V: TextIndexable>(_ type: V.Type) -> Passed { Passed() }
  public static func text<V: RawRepresentable>(_ type: V.Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  public static func text<V: RawRepresentable>(_ type: [V].Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  public static func text<V: RawRepresentable>(_ type: Set<V>.Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  public static func text<V: RawRepresentable & TextIndexable>(_ type: V.Type) -> Passed
  where V.RawValue: TextIndexable { Passed() }
  @_disfavoredOverload
  public static func text<V>(_ type: V.Type) -> Failed { Failed() }
}

/// A type whose stored form is a string, or a list of strings, in which a text index finds words.
///
/// Properties marked with ``TextIndexed()`` have such a type: strings, optionals, arrays and sets of them, and enums
/// with strings as raw values, which need no conformance. Declare it for a type of your own that is encoded as one
/// string:
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
