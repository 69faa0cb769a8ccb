// SPDX-License-Identifier: MIT

/// A set of code points, as a class of a regular expression has it.
struct ScalarSet: Sendable {
  private var ranges: [ClosedRange<UInt32>]
  private var isNegated = false
  private var ignoresCase = false

  init(_ ranges: [ClosedRange<UInt32>]) { self.ranges = ranges }

  init(_ scalar: UInt32) { ranges = [scalar...scalar] }

  func contains(_ scalar: UInt32) -> Bool {
    if includes(scalar) { return !isNegated }
    guard ignoresCase else { return isNegated }
    return Self.otherCases(scalar).contains { includes($0) } != isNegated
  }

  private func includes(_ scalar: UInt32) -> Bool { ranges.contains { $0.contains(scalar) } }

  /// The only member; nil if there are several.
  var single: UInt32? {
    guard !isNegated, ranges.count == 1, ranges[0].count == 1 else { return nil }
    return ranges[0].lowerBound
  }

  mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }

  mutating func formUnion(_ other: ScalarSet) {
    ranges += other.isNegated ? Self.complement(other.ranges) : other.ranges
  }

  var negated: ScalarSet {
    var set = self
    set.isNegated.toggle()
    return set
  }

  var ignoringCase: ScalarSet {
    var set = self
    set.ignoresCase = true
    return set
  }

  private static func otherCases(_ scalar: UInt32) -> [UInt32] {
    guard let properties = Unicode.Scalar(scalar)?.properties else { return [] }
    return [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { text in
      let scalars = text.unicodeScalars
      return scalars.count == 1 ? scalars.first?.value : nil
    }
  }

  private static func complement(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var (rest, start) = ([ClosedRange<UInt32>](), UInt32(0))
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > start { rest.append(start...range.lowerBound - 1) }
      start = max(start, range.upperBound + 1)
    }
    return start <= last ? rest + [start...last] : rest
  }

  private static let last: UInt32 = 0x10FFFF

  static let any = ScalarSet([0...last])
  static let digit = ScalarSet([0x30...0x39])
  static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  static let space = ScalarSet([0x09...0x0D, 0x20...0x20])
  static let horizontalSpace = ScalarSet([0x09...0x09, 0x20...0x20, 0xA0...0xA0])
  static let lineEnd = ScalarSet(0x0A)

  /// The classes of POSIX, such as `[:alpha:]`.
  static let named: [String: ScalarSet] = [
    "alnum": ScalarSet([0x30...0x39, 0x41...0x5A, 0x61...0x7A]),
    "alpha": ScalarSet([0x41...0x5A, 0x61...0x7A]),
    "blank": ScalarSet([0x09...0x09, 0x20...0x20]),
    "cntrl": ScalarSet([0x00...0x1F, 0x7F...0x7F]),
    "digit": digit,
    "graph": ScalarSet([0x21...0x7E]),
    "lower": ScalarSet([0x61...0x7A]),
    "print": ScalarSet([0x20...0x7E]),
    "punct": ScalarSet([0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]),
    "space": space,
    "upper": ScalarSet([0x41...0x5A]),
    "word": word,
    "xdigit": ScalarSet([0x30...0x39, 0x41...0x46, 0x61...0x66]),
  ]
}
