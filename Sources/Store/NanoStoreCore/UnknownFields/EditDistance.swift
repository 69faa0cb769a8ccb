// SPDX-License-Identifier: MIT

/// The edit distance between two texts: the number of insertions, deletions, substitutions and
/// transpositions of adjacent letters (optimal string alignment).
struct EditDistance {
  private let target: [Unicode.Scalar]
  // The last three rows of the dynamic programming table.
  private var before: [Int] = []
  private var last: [Int] = []
  private var row: [Int] = []

  init(to text: String) { target = Array(text.unicodeScalars) }

  /// The maximum distance of similar texts: one letter in three, at most three. Arbitrary.
  var tolerance: Int { min(3, target.count / 3) }

  /// Returns the distance from a text, or nil if it is greater than the limit.
  mutating func distance(from text: String, limit: Int) -> Int? {
    let source = Array(text.unicodeScalars)
    guard limit > 0, abs(source.count - target.count) <= limit else { return nil }
    last = Array(0...target.count)
    before = last
    row = last
    for (i, letter) in source.enumerated() {
      row[0] = i + 1
      for (j, other) in target.enumerated() {
        var cost = min(last[j + 1], row[j]) + 1
        cost = min(cost, last[j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == target[j - 1], source[i - 1] == other {
          cost = min(cost, before[j - 1] + 1)
        }
        row[j + 1] = cost
      }
      if row.min()! > limit { return nil }
      (before, last, row) = (last, row, before)
    }
    return last[target.count] <= limit ? last[target.count] : nil
  }
}
