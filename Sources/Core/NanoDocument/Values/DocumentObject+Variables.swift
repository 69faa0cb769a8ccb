// SPDX-License-Identifier: MIT

/// A dictionary literal of fields with variables as values, such as `["title": title, "year": year]`.
///
/// A literal that contains only literals is inferred as ``DocumentObject``. With variables, a
/// ``DocumentObject`` literal requires a conversion of each value, `.init(title)`; overloads that
/// accept this type do not. As elsewhere in Swift, `[1, 2.5]` in such a literal is an array of doubles,
/// and `[1, "a"]` does not compile.
public typealias DocumentFields = KeyValuePairs<String, any DocumentValueConvertible & Sendable>

extension DocumentObject {
  /// Creates an object from fields with variables as values.
  ///
  /// ```swift
  /// DocumentObject(["title": title, "year": year])         // {"title":"Alien","year":1979}
  /// ```
  ///
  /// If a name occurs twice, the last value is used.
  @_disfavoredOverload
  public init(_ fields: DocumentFields) {
    self.init(fields.map { ($0.key, $0.value.documentValue) })
  }
}

/// Converts to an object with its fields sorted by name, since a dictionary is unordered.
extension Dictionary: DocumentValueConvertible
where Key == String, Value: DocumentValueConvertible {
  /// The dictionary as an object, with its fields sorted by name.
  public var documentValue: DocumentValue {
    .object(
      DocumentObject(
        sorted { $0.key.isBefore($1.key) }.map { ($0.key, $0.value.documentValue) }))
  }
}
