// SPDX-License-Identifier: MIT

package import NanoDocument

/// The running state of one aggregate. It is the definition, and engines share it.
package struct Aggregation {
  private let aggregate: Aggregate
  private var count = 0
  private var extreme: DocumentValue = .null
  private var integers: Int64 = 0
  /// How often the sum of the integers exceeded 64 bits, less how often it fell below.
  private var wraps: Int64 = 0
  private var hasDoubles = false
  /// The sum of the decimals, if there are any.
  private var decimals: DecimalSum?
  private var isExact = true
  private var sum = CompensatedSum()
  private var numbers = 0

  package init(_ aggregate: Aggregate) { self.aggregate = aggregate }

  /// Adds a value. A value counts once for each time that it occurs in the field.
  package mutating func add(_ value: DocumentValue) {
    switch aggregate {
    case .count: break
    case .countOf: count += 1
    case .min:
      if !value.isNull, extreme.isNull || ValueOrder.compare(value, extreme) < 0 { extreme = value }
    case .max:
      if !value.isNull, extreme.isNull || ValueOrder.compare(value, extreme) > 0 { extreme = value }
    case .average, .sum: addNumber(value)
    }
  }

  /// Counts a document, regardless of its fields.
  package mutating func addDocument() { if case .count = aggregate { count += 1 } }

  private mutating func addNumber(_ value: DocumentValue) {
    switch value {
    case .int(let number):
      let (sum, overflow) = integers.addingReportingOverflow(number)
      integers = sum
      if overflow {
        isExact = false
        wraps += number < 0 ? -1 : 1
      }
      self.sum.add(Double(number))
    case .double(let number):
      isExact = false
      hasDoubles = true
      sum.add(number)
    // A constant of a Swift expression, such as 1/3 in 38 digits.
    case .decimal(let number) where !number.isStorable:
      isExact = false
      hasDoubles = true
      sum.add(number.nearestDouble)
    case .decimal(let number):
      let sum = decimals ?? DecimalSum()
      decimals = sum
      sum.add(number)
    default: return
    }
    numbers += 1
  }

  /// The result over all added values.
  package var result: DocumentValue {
    switch aggregate {
    case .count, .countOf: .int(Int64(count))
    case .min, .max: extreme
    case .average where decimals != nil: decimalAverage
    case .average: numbers == 0 ? .null : .double(sum.divided(by: Double(numbers)))
    case .sum where decimals != nil: decimalSum
    case .sum: isExact ? .int(integers) : .double(sum.value)
    }
  }

  /// The exact sum of integers and decimals, rounded once if it has more than 34 digits; with doubles, a double.
  private var decimalSum: DocumentValue {
    guard !hasDoubles, let sum = exactDigits.rounded()?.value else {
      return .double(roundedSum.value)
    }
    return .decimal(sum)
  }

  /// The same for the mean.
  private var decimalAverage: DocumentValue {
    let mean = exactDigits.divided(by: UInt128(numbers), exponent: 0, isNegative: false)
    guard !hasDoubles, let mean = mean.rounded()?.value else {
      return .double(roundedSum.divided(by: Double(numbers)))
    }
    return .decimal(mean)
  }

  private var exactDigits: DecimalDigits {
    guard let decimals else { return DecimalDigits(.zero) }
    let whole = Int128(wraps) << 64 + Int128(integers)
    let integers = DecimalDigits(
      digits: "\(whole.magnitude)".utf8.map { $0 - 0x30 }, exponent: 0, isNegative: whole < 0)
    return decimals.digits + integers
  }

  /// The compensated sum of the doubles and integers, and the double nearest to the sum of the decimals.
  private var roundedSum: CompensatedSum {
    var sum = sum
    if let decimals { sum.add(decimals.digits.nearestDouble) }
    return sum
  }

  /// Returns whether a value is aggregated. Arrays contribute their elements, not themselves.
  package static func counts(_ value: DocumentValue) -> Bool {
    if case .array = value { false } else { true }
  }
}

/// A compensated sum of doubles (Neumaier 1974), which does not depend on the order of large and small
/// terms.
struct CompensatedSum {
  private var sum = 0.0
  private var compensation = 0.0
  /// The factor of the terms, which is 1 until a partial sum of finite terms overflows: later ones may cancel it.
  private var scale = 1.0

  mutating func add(_ given: Double) {
    let term = given * scale
    let next = sum + term
    if _slowPath(!next.isFinite), sum.isFinite, term.isFinite {
      rescale()
      return add(given)
    }
    if next.isFinite {
      compensation +=
        sum.magnitude >= term.magnitude ? (sum - next) + term : (term - next) + sum
    }
    sum = next
  }

  private mutating func rescale() {
    // Enough for any number of terms.
    let factor = 0x1p-64
    (sum, compensation, scale) = (sum * factor, compensation * factor, scale * factor)
  }

  var value: Double { divided(by: 1) }

  func divided(by count: Double) -> Double { (sum + compensation) / count / scale }
}
