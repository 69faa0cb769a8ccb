// SPDX-License-Identifier: MIT

package import NanoDocument

extension Function {
  /// Returns whether the function takes the arrays of a field as a whole at this position, and not their
  /// elements one by one.
  ///
  /// - Parameter splitsArrays: Whether the values of the field do not include the array itself.
  func takesArray(at position: Int, splitsArrays: Bool) -> Bool {
    switch self {
    case .arrayLength: splitsArrays
    case .elementAt, .arraySlice: position == 0
    case .array, .arrayConcat, .arrayDistinct, .arraySort, .arrayReverse, .arrayUnion,
      .arrayIntersection, .arrayDifference:
      true
    default: false
    }
  }

  /// The positions of the operands that have to be a unit, a time zone or a format.
  private var constants: (unit: Int?, zone: Int?, format: Int?) {
    switch self {
    case .dateTrunc: (0, 2, nil)
    case .dateAdd, .dateDiff: (0, 3, nil)
    case .dateFormat: (nil, 2, 1)
    case .year, .quarter, .month, .week, .isoYear, .day, .dayOfYear, .weekday, .hour, .minute,
      .second:
      (nil, 1, nil)
    default: (nil, nil, nil)
    }
  }

  /// Why a call with constant operands can never have a result.
  struct ConstantFailure {
    var message: String
    var expected: String
    var hint: String?
  }

  /// Returns why a constant unit, time zone or format is wrong, or `nil`. A misspelled constant is an
  /// error, and not null for every document; a field with such a value is null.
  func failure(of operands: [QueryExpression]) -> ConstantFailure? {
    let (unit, zone, format) = constants
    func constant(_ position: Int?) -> DocumentValue? {
      guard let position, position < operands.count, case .value(let value) = operands[position]
      else { return nil }
      return value
    }
    if let value = constant(unit), value.string.flatMap(DateUnit.init(name:)) == nil {
      return ConstantFailure(
        message: "A unit of time is unknown",
        expected: DateUnit.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "),
        hint: "the unit is the first argument")
    }
    if let value = constant(zone), value.string.flatMap(ZoneRules.named) == nil {
      return ConstantFailure(
        message: "A time zone is unknown",
        expected: "a name such as 'Europe/Berlin', 'UTC' or '+05:30'")
    }
    if let value = constant(format), value.string.map(DateFormat.isValid) != true {
      return ConstantFailure(
        message: "A date format is malformed",
        expected: "the directives "
          + DateFormat.directives.map { "%\($0)" }.joined(separator: " "))
    }
    return nil
  }
}

extension ClosedRange<Int> {
  /// A number of arguments, for an error.
  var argumentCount: String { count == 1 ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)" }
}

extension QueryExpression {
  /// Checks the number of operands of a function call, and the constant ones.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``.
  package func validateConstants() throws(StoreError) {
    guard case .function(let function, let operands) = self else { return }
    // Computations index their operands without a check.
    guard function.takes(operands.count) else {
      throw StoreError(
        .invalidArgument, "A function has the wrong number of arguments",
        [.expected: function.arity.argumentCount, .actual: "\(operands.count)"])
    }
    guard let failure = function.failure(of: operands) else { return }
    var error = StoreError(.invalidArgument, failure.message, [.expected: failure.expected])
    if let hint = failure.hint { error = error.adding(.hint, hint) }
    throw error
  }
}
