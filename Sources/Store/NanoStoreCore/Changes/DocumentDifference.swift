// SPDX-License-Identifier: MIT

/// The difference between two lists of documents, which are identified by row ID.
///
/// Positions follow `CollectionDifference` and the batch updates of UIKit and AppKit: removals
/// refer to the old list, insertions to the new one. Apply removals and the sources of moves
/// together, from the highest position to the lowest, then insertions and the destinations of
/// moves, from the lowest to the highest; ``apply(to:_:)`` does this.
///
/// ```swift
/// table.performBatchUpdates {
///   table.deleteRows(at: difference.removed)
///   table.insertRows(at: difference.inserted)
///   for move in difference.moved { table.moveRow(at: move.from, to: move.to) }
/// }
/// table.reloadRows(at: difference.changed.map(\.to))     // after the others, at their new positions
/// ```
///
/// SwiftUI computes differences by identity: pass the documents to `ForEach` with their row IDs.
public struct DocumentDifference: Sendable, Hashable {
  /// A document in both lists.
  public struct Step: Sendable, Hashable {
    /// The position in the old list.
    public let from: Int
    /// The position in the new list.
    public let to: Int
  }

  /// The positions in the old list of removed documents, ascending.
  public private(set) var removed: [Int] = []
  /// The positions in the new list of inserted documents, ascending.
  public private(set) var inserted: [Int] = []
  /// The documents whose order changed relative to the others in both lists, by new position.
  ///
  /// The set is minimal: documents that only shift because of others are not included.
  public private(set) var moved: [Step] = []
  /// The documents whose fields, type or version changed, by new position; in `differences()` of
  /// updates, also those that were saved again with equal content. They may also have moved.
  public private(set) var changed: [Step] = []

  /// Whether both lists are equal.
  public var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty
  }

  init(from old: [DocumentFingerprint], to new: [DocumentFingerprint]) {
    self.init(from: old.map(\.rowID), to: new.map(\.rowID)) { from, to in
      !new[to].isUnchanged(since: old[from])
    }
  }

  /// Creates the difference between two lists of distinct identities.
  ///
  /// - Parameter isChanged: Whether the element at a position of the old list differs from the same
  ///   element at a position of the new one.
  init<ID: Hashable>(from old: [ID], to new: [ID], isChanged: (Int, Int) -> Bool) {
    let oldPositions = Dictionary(
      old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var stays = Array(repeating: false, count: old.count)
    var kept: [Step] = []
    for (to, id) in new.enumerated() {
      guard let from = oldPositions[id] else {
        inserted.append(to)
        continue
      }
      stays[from] = true
      kept.append(Step(from: from, to: to))
      if isChanged(from, to) { changed.append(kept[kept.count - 1]) }
    }
    removed = stays.indices.filter { !stays[$0] }
    let unmoved = Self.longestAscent(kept.map(\.from))
    moved = kept.filter { !unmoved.contains($0.from) }
  }

  /// Creates the difference between lists without common elements.
  init(replacing old: Int, with new: Int) {
    (removed, inserted) = (Array(0..<old), Array(0..<new))
  }

  /// Transforms the old list into the new one.
  ///
  /// - Parameters:
  ///   - list: The old list, or values derived from each of its documents.
  ///   - new: The new list, for inserted and changed elements.
  public func apply<Element>(to list: inout [Element], _ new: [Element]) {
    apply(to: &list) { new[$0] }
  }

  /// Transforms the old list into the new one; see ``apply(to:_:)-([Element],_)``. The closure
  /// returns the element at a position of the new list, and is called only for inserted and changed
  /// elements.
  public func apply<Element>(to list: inout [Element], _ element: (Int) throws -> Element) rethrows
  {
    let old = list
    var gone = Set(removed)
    gone.formUnion(moved.lazy.map(\.from))
    var staying = old.indices.lazy.filter { !gone.contains($0) }.makeIterator()
    let arriving = Dictionary(moved.map { ($0.to, $0.from) }) { first, _ in first }
    let fresh = Set(inserted)
    var result: [Element] = []
    for position in 0..<(old.count - removed.count + inserted.count) {
      if fresh.contains(position) {
        result.append(try element(position))
      } else if let from = arriving[position] ?? staying.next() {
        result.append(old[from])
      }
    }
    for step in changed { result[step.to] = try element(step.to) }
    list = result
  }

  /// Returns the longest increasing subsequence of distinct numbers.
  private static func longestAscent(_ numbers: [Int]) -> Set<Int> {
    // The position of the smallest last number of an increasing subsequence of each length.
    var ends: [Int] = []
    var before = Array(repeating: -1, count: numbers.count)
    for (position, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[position] = ends[low - 1] }
      if low == ends.count { ends.append(position) } else { ends[low] = position }
    }
    var ascent: Set<Int> = []
    var position = ends.last ?? -1
    while position >= 0 {
      ascent.insert(numbers[position])
      position = before[position]
    }
    return ascent
  }
}
