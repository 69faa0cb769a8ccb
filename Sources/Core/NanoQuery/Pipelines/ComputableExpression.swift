// SPDX-License-Identifier: MIT

public import NanoDocument

/// A unit of date arithmetic.
public enum CalendarUnit: String, Sendable, Hashable, CaseIterable {
  /// A second.
  case second
  /// A minute.
  case minute
  /// An hour.
  case hour
  /// A calendar day.
  case day
  /// A calendar week, which starts on Monday.
  case week
  /// A calendar month.
  case month
  /// A quarter of a calendar year.
  case quarter
  /// A calendar year.
  case year
}

/// An expression or a field from which other expressions can be computed.
public protocol ComputableExpression: QueryExpressionConvertible {}

extension QueryExpression: ComputableExpression {}
extension Field: ComputableExpression {}

extension ComputableExpression {
  /// Returns the start of the unit that contains a date, in a time zone.
  ///
  /// ```swift
  /// films.find().grouped(by: ["month": Field("released").start(of: .month)], ["films": .count])
  /// ```
  ///
  /// - Parameter zone: A name such as `Europe/Berlin`; nil for UTC. A query with an unknown name throws
  ///   ``StoreError/Code/invalidArgument``.
  public func start(of unit: CalendarUnit, in zone: String? = nil) -> QueryExpression {
    .function(.dateTrunc, [.value(.string(unit.rawValue)), queryExpression] + Self.zone(zone))
  }

  /// Returns a component of a date, such as its ``Function/year``, in a time zone.
  ///
  /// - Parameters:
  ///   - part: One of the functions from ``Function/year`` to ``Function/dayOfYear``.
  ///   - zone: A name such as `Europe/Berlin`; nil for UTC.
  public func part(_ part: Function, in zone: String? = nil) -> QueryExpression {
    .function(part, [queryExpression] + Self.zone(zone))
  }

  /// Returns the date that is a number of units later, in a time zone.
  public func adding(
    _ count: Int, _ unit: CalendarUnit, in zone: String? = nil
  ) -> QueryExpression {
    .function(
      .dateAdd,
      [.value(.string(unit.rawValue)), .value(.int(Int64(count))), queryExpression]
        + Self.zone(zone))
  }

  /// Returns the number of unit boundaries after this date and not after another one.
  public func distance(
    to end: some QueryExpressionConvertible, in unit: CalendarUnit, zone: String? = nil
  ) -> QueryExpression {
    .function(
      .dateDiff,
      [.value(.string(unit.rawValue)), queryExpression, end.queryExpression] + Self.zone(zone))
  }

  /// Returns the text of a date in a format such as `%Y-%m-%d`, in a time zone.
  public func formatted(_ format: String, in zone: String? = nil) -> QueryExpression {
    .function(.dateFormat, [queryExpression, .value(.string(format))] + Self.zone(zone))
  }

  /// Returns the lower bound of the interval that contains the value, or null if none does.
  ///
  /// ```swift
  /// Field("price").bucket([0, 10, 100])        // 0 from 0 to below 10, 10 from 10 to below 100
  /// ```
  ///
  /// - Parameter bounds: At least two. A query with fewer throws ``StoreError/Code/invalidArgument``.
  public func bucket(_ bounds: [DocumentValue]) -> QueryExpression {
    .function(.bucket, [queryExpression] + bounds.map { .value($0) })
  }

  /// Returns the element of an array at an index, from the end if it is negative.
  public func element(at index: Int) -> QueryExpression {
    .function(.elementAt, [queryExpression, .value(.int(Int64(index)))])
  }

  /// Returns the elements of an array that satisfy a condition, whose paths start at the element.
  public func filtered(_ condition: (Field.Element) -> Condition) -> QueryExpression {
    .elements(queryExpression, where: condition(Field.Element()), select: .field(.element))
  }

  /// Returns an array of the values of an expression for the elements of an array.
  public func mapped(
    _ value: (Field.Element) -> some QueryExpressionConvertible
  ) -> QueryExpression {
    .elements(
      queryExpression, where: .constant(true), select: value(Field.Element()).queryExpression)
  }

  private static func zone(_ name: String?) -> [QueryExpression] {
    name.map { [.value(.string($0))] } ?? []
  }
}
