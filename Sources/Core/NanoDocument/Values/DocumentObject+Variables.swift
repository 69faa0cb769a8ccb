// SPDX-License-Identifier: MIT

/// Fields in a dictionary literal whose values are variables, as in `["title": title, "year": year]`.
///
/// A literal of literals is a ``DocumentObject`` by itself. Of variables Swift makes one only with a conversion for each,
/// `.init(title)`; where a call takes this type too, it is not needed. In it `[1, 2.5]` is a list of doubles and
/// `[1, "a"]` does not compile, as anywhere in Swift.
public typealias DocumentFields = KeyValuePairs<String, any DocumentValueConvertible & Sendable>

extension DocumentObject {
  /// An object with fields whose values are variables.
  ///
  /// ```swift
  /// DocumentObject(["title": title, "year": year])         // {"title":"Alien","year":1979}
  /// ```
  ///
  /// Of two fields with one name the later one counts.
  @_disfavoredOverload
  public init(_ fields: DocumentFields) {
    self.init(fields.map { ($0.key, $0.value.documentValue) })
  }
}

/// An object whose fields are in the order of their names, since a dictionary has none.
extension Dictionary: DocumentValueConvertible
where Key == String, Value: DocumentValueConvertible {
  public var documentValue: DocumentValue {
    .object(
      DocumentObject(
        sorted { $0.key.isBefore($1.key) }.map { ($0.key, $0.value.documentValue) }))
  }
}
