// SPDX-License-Identifier: MIT

package import NanoDocument

/// The numbers of a sum or average, which tell how far two correct results may differ.
///
/// Rounding depends on the order of addition, and on the engine: a server adds the decimals of doubles exactly.
package struct AddedNumbers: Sendable {
  private let count: Int
  /// The sum of the magnitudes of the finite numbers.
  private let magnitude: Double
  private let hasInfinity: Bool
  private let hasNaN: Bool

  /// - Parameter values: The values of the field, of which those that are not numbers are ignored.
  package init(_ values: [DocumentValue]) {
    let numbers = values.compactMap(\.double)
    count = numbers.count
    magnitude = numbers.filter(\.isFinite).reduce(0) { $0 + $1.magnitude }
    hasInfinity = numbers.contains(where: \.isInfinite)
    hasNaN = numbers.contains(where: \.isNaN)
  }

  /// Returns whether an engine may return the actual sum or average if the reference engine returns the expected one,
  /// and they are not equal.
  ///
  /// - Parameter isOnServer: Whether the engine may be a server, which returns a sum of doubles without fractions as an
  ///   integer.
  package func allow(
    _ expected: DocumentValue, _ actual: DocumentValue, isAverage: Bool, isOnServer: Bool = true
  ) -> Bool {
    guard mayHaveTypes(expected, actual, isOnServer), !hasNaN, let x = expected.double,
      let y = actual.double
    else { return false }
    guard x.isFinite, y.isFinite else {
      // A sum of finite numbers may overflow in one order of addition but not in another. Infinity remains.
      guard reaches(.infinity) else { return false }
      return hasInfinity ? !x.isFinite && !y.isFinite : !x.isNaN && !y.isNaN
    }
    let scale = isAverage ? magnitude / Double(count) : magnitude
    let tolerance = min(scale, .greatestFiniteMagnitude) * Self.relativeTolerance
    // Below the normal range, a double has so few digits that its decimal may differ by more.
    return (x - y).magnitude <= max(tolerance, .leastNormalMagnitude)
  }

  /// Returns whether results of these types may differ. Only those that are doubles are rounded.
  private func mayHaveTypes(
    _ expected: DocumentValue, _ actual: DocumentValue, _ isOnServer: Bool
  ) -> Bool {
    switch (expected, actual) {
    case (.double, .double): true
    case (.double, .int) where isOnServer: true
    // Whether a partial sum of integers exceeds 64 bits depends on the order of addition.
    case (.int, .double), (.double, .int): reaches(0x1p63)
    default: false
    }
  }

  /// Returns whether a partial sum may reach a limit in some order of addition.
  private func reaches(_ limit: Double) -> Bool {
    magnitude * (1 + Self.relativeTolerance) >= limit
  }

  /// The terms, a compensated sum and a division are rounded by 1.1e-16 each.
  private static let relativeTolerance = 1e-14
}
