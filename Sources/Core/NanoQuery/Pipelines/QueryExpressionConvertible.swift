// SPDX-License-Identifier: MIT

public import NanoDocument

/// A type that denotes an expression over a row: an expression, or a field.
///
/// A string is the path of a field, as in `sorted(by: "year")`. A constant is
/// `QueryExpression.value("text")`.
public protocol QueryExpressionConvertible: Sendable {
  /// The expression.
  var queryExpression: QueryExpression { get }
}

extension QueryExpression: QueryExpressionConvertible {
  /// The expression itself.
  public var queryExpression: QueryExpression { self }

  /// Parses an expression of query text.
  ///
  /// ```swift
  /// try QueryExpression(text: "date_trunc('month', [released], 'Europe/Berlin')")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there, also
  ///   for a parameter.
  public init(text: String) throws(StoreError) {
    var parser = QueryParser(text)
    self = try parser.wholeExpression()
    try parser.rejectParameters()
  }
}

extension FieldPath: QueryExpressionConvertible {
  /// The values of the field.
  public var queryExpression: QueryExpression { .field(self) }
}

extension Field: QueryExpressionConvertible {
  /// The values of the field.
  public var queryExpression: QueryExpression { .field(path) }
}

extension String: QueryExpressionConvertible {
  /// The values of the field whose path the string is.
  public var queryExpression: QueryExpression { .field(FieldPath(self)) }
}
