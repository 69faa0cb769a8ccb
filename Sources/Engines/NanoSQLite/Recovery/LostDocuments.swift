// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Documents on pages that no B-tree references, because a page above them is damaged.
///
/// The remaining interior pages indicate which pages belong together. The names of the fields, compared with the
/// path catalog, indicate which collection they belong to.
struct LostDocuments {
  /// The pages of what was one B-tree.
  struct Group {
    var pages: [Int]
    /// A few rows, to determine their collection.
    var samples: [TreeReader.Row]
  }

  private let reader: TreeReader

  init(_ reader: TreeReader) { self.reader = reader }

  /// The number of sampled rows per group. Arbitrary: documents of one collection mostly have the same names.
  private static let samples = 8

  func groups() -> [Group] {
    let lost = reader.lostPages
    let above = parents(lost)
    var groups: [Int: Group] = [:]
    var order: [Int] = []
    for number in lost {
      guard let bytes = reader.pages.page(number), let page = leaf(bytes, number) else { continue }
      var found: [TreeReader.Row] = []
      _ = reader.visitRows(page) { row in
        if found.count < Self.samples, RecoveredDocument.isLikely(row.record) { found.append(row) }
      }
      guard !found.isEmpty else { continue }
      let top = Self.top(number, above)
      if groups[top] == nil { order.append(top) }
      groups[top, default: Group(pages: [], samples: [])].pages.append(number)
      if groups[top]?.samples.count ?? 0 < Self.samples {
        groups[top]?.samples.append(contentsOf: found)
      }
    }
    return order.compactMap { groups[$0] }
  }

  /// Passes the documents of a group to a closure, and returns the number of pages on which some could not be
  /// read.
  func each(_ group: Group, _ visit: (TreeReader.Row) throws -> Void) rethrows -> Int {
    var damaged = 0
    for number in group.pages {
      guard let bytes = reader.pages.page(number), let page = leaf(bytes, number) else { continue }
      let isDamaged = try reader.visitRows(page) { row in
        if RecoveredDocument.isLikely(row.record) { try visit(row) }
      }
      if isDamaged { damaged += 1 }
    }
    return damaged
  }

  /// A page with an invalid first byte may still be a leaf page.
  private func leaf(_ bytes: UnsafeRawBufferPointer, _ number: Int) -> TreePage? {
    guard let page = TreePage(bytes, number: number, pageSize: reader.pages.pageSize) else {
      return TreePage(bytes, number: number, pageSize: reader.pages.pageSize, as: .tableLeaf)
    }
    return page.kind == .tableLeaf ? page : nil
  }

  private func parents(_ lost: [Int]) -> [Int: Int] {
    var parents: [Int: Int] = [:]
    for number in lost {
      guard let bytes = reader.pages.page(number),
        let page = TreePage(bytes, number: number, pageSize: reader.pages.pageSize),
        page.kind == .tableInterior
      else { continue }
      for child in page.children where parents[child] == nil { parents[child] = number }
    }
    return parents
  }

  private static func top(_ page: Int, _ parents: [Int: Int]) -> Int {
    var page = page
    // No B-tree is deeper; cycles of damaged references end here.
    for _ in 0..<20 {
      guard let parent = parents[page] else { return page }
      page = parent
    }
    return page
  }
}

extension LostDocuments.Group {
  /// Returns the collections whose documents have all names that occur in the group, and the fewest other names.
  func candidates(
    _ names: [ExactName: Set<ExactName>], _ encoding: StoredTextEncoding
  ) -> [ExactName] {
    var seen: Set<ExactName> = []
    for row in samples {
      guard let document = try? RecoveredDocument(row, encoding) else { continue }
      document.body.withUnsafeBytes { body in
        var reader = JSONReader(body)
        let object = try? reader.object()
        for field in object ?? [:] {
          seen.insert(ExactName(String(decoding: StoredName(field.name).utf8, as: UTF8.self)))
        }
      }
    }
    guard !seen.isEmpty else { return [] }
    let fitting = names.filter { seen.isSubset(of: $0.value) }
    let fewest = fitting.map(\.value.count).min()
    return fitting.filter { $0.value.count == fewest }.map(\.key).sorted()
  }
}
