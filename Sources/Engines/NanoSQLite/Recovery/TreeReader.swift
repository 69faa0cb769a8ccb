// SPDX-License-Identifier: MIT

/// The rows of a file's B-trees, read page by page, each page once.
final class TreeReader {
  let pages: PageFile
  /// The use detected for each page.
  private var uses: [Use]
  /// The number of overflow pages that may still be read. A chain that leads into the chain of a different row
  /// is followed, because its owner is unknown, but not indefinitely.
  private var overflowBudget: Int

  private var pagesRead = 0
  /// The fraction of the file's pages that was read, at most 1.
  var progress: Double { min(1, Double(pagesRead) / Double(max(1, pages.count))) }

  private enum Use: UInt8 { case unknown, tree, overflow }

  /// The free pages, which contain deleted content.
  private let free: Set<Int>
  /// Whether all free pages are known, so that deleted content is not mistaken for lost content.
  let knowsFreePages: Bool

  struct Row {
    /// The row ID; 0 in index B-trees, whose rows have none.
    let id: Int64
    let record: StoredRecord
  }

  init(_ pages: PageFile) {
    self.pages = pages
    uses = Array(repeating: .unknown, count: pages.count + 1)
    overflowBudget = 4 * pages.count + 1_000
    (free, knowsFreePages) = Self.freePages(pages)
  }

  private static func freePages(_ pages: PageFile) -> (Set<Int>, isWhole: Bool) {
    var free: Set<Int> = []
    var trunk = pages.header(32)
    while trunk != 0 {
      guard let bytes = pages.page(trunk), free.insert(trunk).inserted else { return (free, false) }
      let leaves = bytes.number32(4)
      guard leaves <= bytes.count / 4 - 2 else { return (free, false) }
      for index in 0..<leaves {
        guard free.insert(bytes.number32(8 + 4 * index)).inserted else { return (free, false) }
      }
      trunk = bytes.number32(0)
    }
    return (free, free.count == pages.header(36) && pages.isHeaderSound)
  }

  /// Passes the rows of a B-tree to a closure, in order.
  ///
  /// - Parameter defersMisplaced: Whether the rows of pages that belong elsewhere, as after an exchange of pages, are
  ///   passed last. Where a row ID occurs twice, the first row keeps it.
  /// - Returns: The number of pages that cannot be read, with all pages below them, or only in part.
  func each(
    from root: Int, isIndex: Bool, defersMisplaced: Bool = true, _ visit: (Row) throws -> Void
  ) rethrows -> Int {
    var damaged = 0
    // Interior pages of indexes contain rows themselves, which sort between their child pages; the order of
    // metadata rows does not matter, so they are passed first.
    var pending = [(number: root, ids: TreePage.allIDs)]
    var misplaced: [Int] = []
    while let (number, ids) = pending.popLast() {
      guard let bytes = pages.page(number), uses[number] == .unknown,
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize),
        page.kind.isIndex == isIndex
      else {
        damaged += 1
        continue
      }
      uses[number] = .tree
      pagesRead += 1
      pending.append(contentsOf: page.children(within: ids).reversed())
      guard !defersMisplaced || page.belongs(to: ids) else {
        misplaced.append(number)
        continue
      }
      if try visitRows(page, visit) || page.isDamaged { damaged += 1 }
    }
    for number in misplaced {
      guard let bytes = pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize)
      else { continue }
      if try visitRows(page, visit) || page.isDamaged { damaged += 1 }
    }
    return damaged
  }

  /// Returns the number of rows of a table's B-tree, without reading them.
  func count(from root: Int) -> Int {
    var rows = 0
    var pending = [root]
    while let number = pending.popLast() {
      guard let bytes = pages.page(number), uses[number] == .unknown,
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize), !page.kind.isIndex
      else { continue }
      uses[number] = .tree
      pending.append(contentsOf: page.children)
      if page.kind == .tableLeaf { rows += page.cells.count }
    }
    return rows
  }

  /// Passes the rows of one page to a closure, and returns whether some cannot be read.
  func visitRows(_ page: TreePage, _ visit: (Row) throws -> Void) rethrows -> Bool {
    guard page.kind != .tableInterior else { return false }
    var isDamaged = false
    for cell in page.cells {
      if let row = row(at: cell, in: page) { try visit(row) } else { isDamaged = true }
    }
    return isDamaged
  }

  /// Returns those of the pages that are not the root of a table's B-tree, since another page refers to them as the place of
  /// the row IDs that they have. The references themselves may be damaged.
  func pagesBelowOthers(_ candidates: Set<Int>) -> Set<Int> {
    var found: Set<Int> = []
    for number in uses.indices.dropFirst() where !free.contains(number) {
      guard let bytes = pages.page(number),
        bytes[number == 1 ? 100 : 0] == TreePage.Kind.tableInterior.rawValue,
        let page = TreePage(bytes, number: number, pageSize: pages.pageSize)
      else { continue }
      for (child, ids) in page.children(within: TreePage.allIDs)
      where candidates.contains(child) && child != number {
        guard let bytes = pages.page(child),
          let page = TreePage(bytes, number: child, pageSize: pages.pageSize),
          page.belongs(to: ids) && page.refersOnly(to: ids)
        else { continue }
        found.insert(child)
      }
    }
    return found
  }

  /// The pages that are neither referenced nor free: their content was lost, not deleted.
  var lostPages: [Int] {
    uses.indices.dropFirst().filter { uses[$0] == .unknown && !free.contains($0) }
  }

  private func row(at cell: Int, in page: TreePage) -> Row? {
    var at = cell + (page.kind == .indexInterior ? 4 : 0)
    guard let (length, first) = page.bytes.variableNumber(at), length >= 1,
      length <= Int64(pages.count) * Int64(pages.pageSize)
    else { return nil }
    at = first
    var id: Int64 = 0
    if !page.kind.isIndex {
      guard let (number, next) = page.bytes.variableNumber(at) else { return nil }
      (id, at) = (number, next)
    }
    return withPayload(Int(length), at, page) { StoredRecord($0) }.flatMap { $0 }
      .map { Row(id: id, record: $0) }
  }

  /// Reads a payload from the page itself and from its overflow pages.
  private func withPayload<Result>(
    _ length: Int, _ at: Int, _ page: TreePage, _ read: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    let local = localLength(length, page.kind)
    guard at + local <= page.bytes.count else { return nil }
    let localBytes = UnsafeRawBufferPointer(rebasing: page.bytes[at..<at + local])
    guard local < length else { return read(localBytes) }
    guard at + local + 4 <= page.bytes.count else { return nil }
    var content: [UInt8] = []
    content.append(contentsOf: localBytes)
    var next = page.bytes.number32(at + local)
    while content.count < length {
      guard overflowBudget > 0, let bytes = pages.page(next) else { return nil }
      overflowBudget -= 1
      if uses[next] == .unknown { uses[next] = .overflow }
      content.append(contentsOf: bytes[4..<min(bytes.count, 4 + length - content.count)])
      next = bytes.number32(0)
    }
    return content.withUnsafeBytes(read)
  }

  private func localLength(_ length: Int, _ kind: TreePage.Kind) -> Int {
    let usable = pages.usable
    let most = kind.isIndex ? (usable - 12) * 64 / 255 - 23 : usable - 35
    if length <= most { return length }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (length - least) % (usable - 4)
    return fitting <= most ? fitting : least
  }
}
