// SPDX-License-Identifier: MIT

/// A page of one of SQLite's B-trees (https://www.sqlite.org/fileformat2.html#b_tree_pages). Cells that exceed
/// the page are ignored.
struct TreePage {
  enum Kind: UInt8 {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isInterior: Bool { self == .indexInterior || self == .tableInterior }
    var isIndex: Bool { self == .indexInterior || self == .indexLeaf }
  }

  let bytes: UnsafeRawBufferPointer
  let kind: Kind
  /// The offsets of the cells, in order.
  private(set) var cells: [Int] = []
  /// The rightmost child page; `nil` for a leaf page.
  let last: Int?
  /// Whether the page has cells that are not in ``cells``.
  private(set) var isDamaged = false

  /// - Parameter kind: The kind to assume, regardless of the first byte.
  init?(
    _ bytes: UnsafeRawBufferPointer, number: Int, pageSize: Int, as kind: Kind? = nil
  ) {
    let start = number == 1 ? 100 : 0
    guard bytes.count >= start + 12, let kind = kind ?? Kind(rawValue: bytes[start]) else {
      return nil
    }
    self.bytes = bytes
    self.kind = kind
    last = kind.isInterior ? bytes.number32(start + 8) : nil
    let pointers = start + (kind.isInterior ? 12 : 8)
    let declared = bytes.number16(start + 3)
    // A cell takes at least four bytes, plus two for its offset.
    let maximum = (bytes.count - pointers) / 6
    isDamaged = declared > maximum
    let count = min(declared, maximum)
    let content = pointers + 2 * count
    for index in 0..<count {
      // Bits beyond the page size are ignored, as SQLite does.
      let cell = bytes.number16(pointers + 2 * index) & (pageSize - 1)
      if cell >= content, cell <= bytes.count - 4 { cells.append(cell) } else { isDamaged = true }
    }
  }

  /// The child pages, in order.
  var children: [Int] {
    guard let last else { return [] }
    return cells.map { bytes.number32($0) } + [last]
  }

  static let allIDs = Int64.min...Int64.max

  /// The child pages, in order, each with the row IDs that its rows can have: those up to the one beside the reference,
  /// and beyond the previous one.
  func children(within ids: ClosedRange<Int64>) -> [(number: Int, ids: ClosedRange<Int64>)] {
    guard kind == .tableInterior, let last else { return children.map { ($0, Self.allIDs) } }
    var first = ids.lowerBound
    var found: [(number: Int, ids: ClosedRange<Int64>)] = []
    for cell in cells {
      let child = bytes.number32(cell)
      guard let (end, _) = bytes.variableNumber(cell + 4), end >= first, end < ids.upperBound else {
        found.append((child, ids))
        continue
      }
      found.append((child, first...end))
      first = end + 1
    }
    return found + [(last, first...ids.upperBound)]
  }

  /// Whether every row of a table's leaf page has one of these IDs. True for other pages.
  func belongs(to ids: ClosedRange<Int64>) -> Bool {
    guard kind == .tableLeaf, ids != Self.allIDs else { return true }
    return cells.allSatisfy { cell in
      guard let (_, next) = bytes.variableNumber(cell), let (id, _) = bytes.variableNumber(next)
      else { return true }
      return ids.contains(id)
    }
  }

  /// Whether the row IDs beside all references to other pages are among these. True for leaf pages.
  func refersOnly(to ids: ClosedRange<Int64>) -> Bool {
    guard kind == .tableInterior, ids != Self.allIDs else { return true }
    return cells.allSatisfy { cell in
      bytes.variableNumber(cell + 4).map { ids.contains($0.0) } ?? true
    }
  }
}
