// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoStoreCore

/// Merges two versions of a document that have a common ancestor, field by field.
///
/// A field that only one side changed takes that side's value. Objects are merged field by field, in the order of the first
/// version. The result does not depend on which of two stores merges, since both name the winning version first.
package struct ThreeWayMerge {
  /// Numbers to which both sides added.
  package var counters: Set<FieldPath> = []
  /// Arrays to which both sides added elements, or from which they removed some.
  package var sets: Set<FieldPath> = []

  package init(counters: Set<FieldPath> = [], sets: Set<FieldPath> = []) {
    self.counters = counters
    self.sets = sets
  }

  package struct Result: Sendable, Hashable {
    package var object: DocumentObject
    /// The fields that both sides changed differently: they have the value of the winner.
    package var overridden: [FieldPath]
  }

  package func merge(
    base: DocumentObject, winner: DocumentObject, other: DocumentObject
  ) -> Result {
    var overridden: [FieldPath] = []
    let object = merge(base, winner, other, [], &overridden)
    return Result(object: object, overridden: overridden)
  }

  private func merge(
    _ base: DocumentObject, _ winner: DocumentObject, _ other: DocumentObject, _ path: [String],
    _ overridden: inout [FieldPath]
  ) -> DocumentObject {
    var result = DocumentObject()
    let added = other.names.filter { winner[$0] == nil }
    for name in winner.names + added {
      let value = value(
        base[name], winner[name], other[name], path + [name], &overridden)
      if let value { result[name] = value }
    }
    return result
  }

  private func value(
    _ base: DocumentValue?, _ winner: DocumentValue?, _ other: DocumentValue?, _ path: [String],
    _ overridden: inout [FieldPath]
  ) -> DocumentValue? {
    let field = FieldPath(components: path)
    // Before equal values: two devices that count to the same number have counted twice.
    if counters.contains(field), let sum = Self.sum(base ?? .int(0), winner, other) { return sum }
    let objects = Self.mergeableObjects(winner, other)
    if !counters.isEmpty, let (own, others) = objects {
      return .object(merge(base?.object ?? [:], own, others, path, &overridden))
    }
    if areEqual(winner, other) || areEqual(other, base) { return winner }
    if areEqual(winner, base) { return other }
    if sets.contains(field), let winner = winner?.array, let other = other?.array {
      return .array(Self.union(base?.array ?? [], winner, other))
    }
    if let (own, others) = objects {
      return .object(merge(base?.object ?? [:], own, others, path, &overridden))
    }
    overridden.append(field)
    return winner
  }

  /// Returns the values if both are objects that are merged field by field: the digest of one reference with the length of
  /// another one would be damage.
  private static func mergeableObjects(
    _ winner: DocumentValue?, _ other: DocumentValue?
  ) -> (DocumentObject, DocumentObject)? {
    guard case .object(let own)? = winner, case .object(let others)? = other else { return nil }
    let (a, b) = (ReferencedContent.reference(winner), ReferencedContent.reference(other))
    return a?.digest == b?.digest && a?.length == b?.length ? (own, others) : nil
  }

  /// What both sides added; nil unless all are numbers, and if the sum of integers or decimals is out of range.
  private static func sum(
    _ base: DocumentValue, _ winner: DocumentValue?, _ other: DocumentValue?
  ) -> DocumentValue? {
    guard let winner, let other else { return nil }
    if case .int(let base) = base, case .int(let winner) = winner, case .int(let other) = other {
      return Int64(exactly: Int128(winner) + Int128(other) - Int128(base)).map { .int($0) }
    }
    if let base = exactDecimal(base), let winner = exactDecimal(winner),
      let other = exactDecimal(other)
    {
      return exactSum(base, winner, other).map { .decimal($0) }
    }
    guard let base = base.double, let first = winner.double, let second = other.double else {
      return nil
    }
    return .double(first + (second - base))
  }

  private static func exactDecimal(_ value: DocumentValue) -> DecimalValue? {
    switch value {
    case .int(let value): DecimalValue(value)
    case .decimal(let value): value
    default: nil
    }
  }

  /// What both sides added to a decimal; nil if no decimal has that value.
  private static func exactSum(
    _ base: DecimalValue, _ winner: DecimalValue, _ other: DecimalValue
  ) -> DecimalValue? {
    guard base.isStorable, winner.isStorable, other.isStorable else { return nil }
    let terms: [(value: DecimalValue, sign: Int128)] = [(winner, 1), (other, 1), (base, -1)]
    // Zero has no digit to align.
    let exponent = terms.filter { !$0.value.isZero }.map(\.value.exponent).min() ?? 0
    var sum: Int128 = 0
    for (value, sign) in terms where !value.isZero {
      let shift = value.exponent - exponent
      guard shift < DecimalValue.powers.count else { return nil }
      let coefficient = Int128(value.coefficient) * (value.isNegative ? -sign : sign)
      let (scaled, isTooLarge) = coefficient.multipliedReportingOverflow(
        by: Int128(DecimalValue.powers[shift]))
      let (next, overflow) = sum.addingReportingOverflow(scaled)
      if isTooLarge || overflow { return nil }
      sum = next
    }
    let value = DecimalValue(isNegative: sum < 0, coefficient: sum.magnitude, exponent: exponent)
    return value.isStorable ? value : nil
  }

  /// Returns whether an edit changed a number, to which another store may have added the same.
  static func mayCount(_ before: DocumentObject, _ after: DocumentObject) -> Bool {
    after.contains { name, value in
      switch value {
      case .int, .double, .decimal: !areEqual(value, before[name])
      case .object(let object): mayCount(before[name]?.object ?? [:], object)
      default: false
      }
    }
  }

  /// The elements of the winner without those that the other side removed, and with those that it added.
  private static func union(
    _ base: [DocumentValue], _ winner: [DocumentValue], _ other: [DocumentValue]
  ) -> [DocumentValue] {
    let (base, own, others) = (Elements(base), Elements(winner), Elements(other))
    let kept = winner.filter { !base.contains($0) || others.contains($0) }
    return kept + other.filter { !own.contains($0) && !base.contains($0) }
  }

  private struct Elements {
    private let values: Set<DocumentValue>
    /// Those that contain NaN, which a set does not find.
    private let unequal: [DocumentValue]

    init(_ array: [DocumentValue]) {
      values = Set(array)
      unequal = array.filter { $0 != $0 }
    }

    func contains(_ value: DocumentValue) -> Bool {
      values.contains(value) || unequal.contains { areEqual($0, value) }
    }
  }
}

/// Whether two values are equal. NaN equals itself, as in queries: a number that stays NaN was not changed.
private func areEqual(_ a: DocumentValue?, _ b: DocumentValue?) -> Bool {
  switch (a, b) {
  case (.double(let a)?, .double(let b)?): a == b || a.isNaN && b.isNaN
  case (.array(let a)?, .array(let b)?):
    a.count == b.count && zip(a, b).allSatisfy { areEqual($0, $1) }
  case (.object(let a)?, .object(let b)?):
    a.count == b.count
      && zip(a, b).allSatisfy { $0.0.hasSameBytes(as: $1.0) && areEqual($0.1, $1.1) }
  default: a == b
  }
}
