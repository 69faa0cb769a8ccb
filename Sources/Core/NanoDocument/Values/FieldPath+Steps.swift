// SPDX-License-Identifier: MIT

extension FieldPath {
  /// A name as it was written.
  package struct Name {
    package var text: String
    package var isQuoted: Bool

    package init(text: String, isQuoted: Bool) {
      self.text = text
      self.isQuoted = isQuoted
    }
  }

  /// One name on the way to a value.
  package struct Step {
    package var name: String
    /// The element that it addresses where it stands at an array; nil if it enters every element.
    package var index: Int?
  }

  package init(_ names: [Name]) {
    self.init(
      names.map(\.text),
      quotedNumbers: names.indices.filter {
        names[$0].isQuoted && Self.elementIndex(names[$0].text) != nil
      })
  }

  /// The names with what each addresses in an array.
  package var steps: [Step] {
    components.enumerated().map { position, name in
      Step(name: name, index: isQuotedNumber(position) ? nil : Self.elementIndex(name))
    }
  }

  /// Whether a number addresses one element where it stands at an array.
  package var addressesElement: Bool { steps.contains { $0.index != nil } }

  /// The path of these positions alone.
  package subscript(positions: Range<Int>) -> FieldPath {
    FieldPath(
      positions.map { Name(text: components[$0], isQuoted: isQuotedNumber($0)) })
  }

  /// Whether the component is a number that was quoted: a name, and no element of an array.
  package func isQuotedNumber(_ position: Int) -> Bool { quotedNumbers.contains(position) }

  /// The index that a name addresses in an array: digits only, without leading zeros.
  private static func elementIndex(_ name: String) -> Int? {
    guard name.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), name == "0" || name.utf8.first != 0x30
    else { return nil }
    return Int(name)
  }
}
