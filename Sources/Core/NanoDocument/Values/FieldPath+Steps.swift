// SPDX-License-Identifier: MIT

extension FieldPath {
  /// A path component as it was written.
  package struct Name {
    package var text: String
    package var isQuoted: Bool

    package init(text: String, isQuoted: Bool) {
      self.text = text
      self.isQuoted = isQuoted
    }
  }

  /// One component of a path.
  package struct Step {
    package var name: String
    /// The array index that the component denotes, or `nil` if it traverses all elements of an array.
    package var index: Int?
  }

  package init(_ names: [Name]) {
    self.init(
      names.map(\.text),
      quotedNumbers: names.indices.filter {
        names[$0].isQuoted && Self.elementIndex(names[$0].text) != nil
      })
  }

  /// The components with their array indices.
  package var steps: [Step] {
    components.enumerated().map { position, name in
      Step(name: name, index: index(at: position))
    }
  }

  /// Returns the array index that a component denotes, or `nil` if it traverses all elements of an array.
  func index(at position: Int) -> Int? {
    isQuotedNumber(position) ? nil : Self.elementIndex(components[position])
  }

  /// Whether the path contains an array index.
  package var addressesElement: Bool { steps.contains { $0.index != nil } }

  /// The part of the path at these positions.
  package subscript(positions: Range<Int>) -> FieldPath {
    FieldPath(
      positions.map { Name(text: components[$0], isQuoted: isQuotedNumber($0)) })
  }

  /// Whether the component is a quoted number: a field name and never an array index.
  package func isQuotedNumber(_ position: Int) -> Bool { quotedNumbers.contains(position) }

  /// Returns the array index that a name denotes: digits only, without leading zeros.
  private static func elementIndex(_ name: String) -> Int? {
    guard name.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), name == "0" || name.utf8.first != 0x30
    else { return nil }
    return Int(name)
  }
}
