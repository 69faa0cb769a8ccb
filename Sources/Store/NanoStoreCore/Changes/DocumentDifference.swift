// SPDX-License-Identifier: MIT

/// What makes one list of documents of another one. Documents are told apart by row id.
///
/// Positions are those of `CollectionDifference`, of UIKit's and of AppKit's batch updates: what goes
/// away is counted in the old list, what comes in the new one. So removals and the beginnings of moves
/// are applied together, from the highest position to the lowest, then insertions and the ends of moves,
/// from the lowest to the highest; ``apply(to:_:)`` does that.
///
/// ```swift
/// table.performBatchUpdates {
///   table.deleteRows(at: difference.removed)
///   table.insertRows(at: difference.inserted)
///   for move in difference.moved { table.moveRow(at: move.from, to: move.to) }
/// }
/// table.reloadRows(at: difference.changed.map(\.to))     // after the others, where they stand now
/// ```
///
/// SwiftUI finds differences itself, by identity: give `ForEach` the documents with their row ids.
public struct DocumentDifference: Sendable, Hashable {
  /// A document that is in both lists.
  public struct Step: Sendable, Hashable {
    /// Its position in the old list.
    public let from: Int
    /// Its position in the new list.
    public let to: Int
  }

  /// Positions in the old list of documents that are gone, ascending.
  public private(set) var removed: [Int] = []
  /// Positions in the new list of documents that were not there, ascending.
  public private(set) var inserted: [Int] = []
  /// Documents that stand elsewhere among those that are in both lists, by new position; as few as
  /// possible. One that only made room for others is not among them.
  public private(set) var moved: [Step] = []
  /// Documents whose fields, type or version are others, by new position. They may have moved too.
  public private(set) var changed: [Step] = []

  /// Whether both lists are the same.
  public var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty
  }

  init(from old: [DocumentMark], to new: [DocumentMark]) {
    let places = Dictionary(
      old.enumerated().map { ($1.rowID, $0) }, uniquingKeysWith: { first, _ in first })
    var stays = Array(repeating: false, count: old.count)
    var kept: [Step] = []
    for (to, mark) in new.enumerated() {
      guard let from = places[mark.rowID] else {
        inserted.append(to)
        continue
      }
      stays[from] = true
      kept.append(Step(from: from, to: to))
      if !mark.isUnchanged(since: old[from]) { changed.append(kept[kept.count - 1]) }
    }
    removed = stays.indices.filter { !stays[$0] }
    let unmoved = Self.longestAscent(kept.map(\.from))
    moved = kept.filter { !unmoved.contains($0.from) }
  }

  /// Makes the new list of the old one.
  ///
  /// - Parameters:
  ///   - list: The old list, or what was made of each of its documents.
  ///   - new: The new list, for what is inserted or changed.
  public func apply<Element>(to list: inout [Element], _ new: [Element]) {
    apply(to: &list) { new[$0] }
  }

  /// As ``apply(to:_:)-([Element],_)``, with a closure that makes the element at a position of the
  /// new list; it is called only for what is inserted or changed.
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

  /// The most numbers that stand in ascending order already, of numbers that are all different.
  private static func longestAscent(_ numbers: [Int]) -> Set<Int> {
    // The position of the smallest number that ends an ascent of each length.
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
