// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@Suite struct RevisionTreeTests {
  /// CouchDB shows a leaf with two parents twice, PouchDB once as we do.
  private static let differs: Set<Int> = [39]

  @Test func `Trees have the leaves and the winner that CouchDB reports`() throws {
    #expect(RecordedExamples.trees.count == 48)
    for example in RecordedExamples.trees where !Self.differs.contains(example.number) {
      let tree = try tree(example)
      let rows = example[path: "changesAllDocs", "changes"]?.array ?? []
      #expect(
        tree.leaves.map { $0.id.description } == rows.compactMap { $0.object?["rev"]?.string },
        "\(example.title)")
      #expect(tree.winner?.id.description == example["winner"]?.string, "\(example.title)")
    }
  }

  @Test func `Leaves have the histories that CouchDB reports`() throws {
    for example in RecordedExamples.trees where !Self.differs.contains(example.number) {
      let tree = try tree(example)
      for row in example["openRevsAll"]?.array ?? [] {
        guard let document = row.object?["ok"]?.object,
          let revision = document["_rev"]?.string.flatMap({ RevisionID($0) })
        else { continue }
        let ids = document[path: "_revisions", "ids"]?.array?.compactMap(\.string)
        #expect(
          tree.history(of: revision).map { $0.hash.description } == ids, "\(example.title)")
        #expect(
          tree.leaf(revision)?.isDeleted == (document["_deleted"] == true), "\(example.title)")
      }
    }
  }

  @Test func `A tree is the same after it was stored`() throws {
    for example in RecordedExamples.trees {
      let tree = try tree(example)
      #expect(RevisionTree(storedText: tree.storedText) == tree, "\(example.title)")
    }
  }

  @Test func `Text that is no stored tree is rejected`() throws {
    let text = try tree(RecordedExamples.trees[0]).storedText
    for text in ["", "!", "AA", String(text.dropLast(2)), text + "A", "CAB" + text] {
      #expect(RevisionTree(storedText: text) == nil, "\(text)")
    }
  }

  @Test func `The order in which histories arrive does not matter`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let histories = Self.randomHistories(&generator)
      var reference = RevisionTree()
      for history in histories { reference.add(history.revisions, isDeleted: history.isDeleted) }
      var other = RevisionTree()
      for history in histories.shuffled(using: &generator) {
        other.add(history.revisions, isDeleted: history.isDeleted)
      }
      #expect(reference.leaves == other.leaves)
      for leaf in reference.leaves {
        #expect(reference.history(of: leaf.id) == other.history(of: leaf.id))
      }
    }
  }

  /// Whole histories of a random tree, of which some are cut off.
  @Test func `A long history continues a tree of many revisions`() {
    func history(_ generations: ClosedRange<Int>) -> [RevisionID] {
      generations.reversed().map {
        RevisionID(generation: $0, hash: .digest(0, UInt64($0)))
      }
    }
    var tree = RevisionTree()
    tree.add(history(1...2_000), isDeleted: false)

    tree.add(history(1...20_000), isDeleted: false)

    #expect(tree.leaves.map(\.id.generation) == [20_000])
    #expect(tree.nodes.count == 20_000)
    var root = RevisionTree()
    root.add(history(20_000...20_000), isDeleted: false)
    root.add(history(1...20_000), isDeleted: false)
    #expect(root.history(of: root.leaves[0].id) == history(1...20_000))
  }

  private static func randomHistories(
    _ generator: inout SystemRandomNumberGenerator
  ) -> [(revisions: [RevisionID], isDeleted: Bool)] {
    var paths: [[RevisionID]] = []
    for index in 0..<Int.random(in: 1...12, using: &generator) {
      let parent = Int.random(in: 0..<4, using: &generator) == 0 ? [] : paths.randomElement() ?? []
      let id = RevisionID(
        generation: parent.count + 1,
        hash: .digest(UInt64.random(in: 0...UInt64.max), UInt64(index)))
      paths.append([id] + parent)
    }
    let inner = Set(paths.compactMap { $0.dropFirst().first })
    return paths.map { path in
      (path, !inner.contains(path[0]) && Bool.random(using: &generator))
    }
  }

  private func tree(_ example: DocumentObject) throws -> RevisionTree {
    var tree = RevisionTree()
    for document in (example["bulkDocs"]?.array ?? []).flatMap({ $0.array ?? [] }) {
      let wire = try WireDocument(try #require(document.object))
      tree.add(wire.history, isDeleted: wire.isDeleted)
    }
    switch example.number {
    case 43: tree.stem(to: 3)
    case 44: tree.stem(to: 2)
    default: break
    }
    return tree
  }
}
