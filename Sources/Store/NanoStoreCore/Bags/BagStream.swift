// SPDX-License-Identifier: MIT

public import NanoDocument

/// The documents of a bag, one after the other, a few hundred in memory at once.
///
/// ```swift
/// for try await song in everything.stream() { … }
/// ```
///
/// Each few hundred are read when they are needed, so the loop may change the store and the bag, and
/// no connection stays busy. A document that is added meanwhile is still given; none is given twice.
public struct BagStream: AsyncSequence, Sendable {
  public typealias Element = Document
  let bag: Bag

  public func makeAsyncIterator() -> Iterator { Iterator(bag: bag) }

  public struct Iterator: AsyncIteratorProtocol {
    let bag: Bag
    private var last: Int64 = 0
    private var batch: ArraySlice<Document> = []
    private var isOver = false

    init(bag: Bag) { self.bag = bag }

    public mutating func next() async throws -> Document? {
      while batch.isEmpty, !isOver {
        let position = last
        let bag = bag
        let page = try await bag.onReader { try bag.savedDocuments(after: position) }
        batch = page.documents[...]
        if let next = page.last { last = next } else { isOver = true }
      }
      return batch.popFirst()
    }
  }
}

extension Bag {
  /// The saved documents of the bag, as an asynchronous sequence in constant memory. What
  /// is not saved plays no part: removed documents are given, and edited ones as the store has them.
  public func stream() -> BagStream { BagStream(bag: self) }

  /// - Returns: Also the position of the last member; nil at the end.
  fileprivate func savedDocuments(
    after position: Int64
  ) throws -> (documents: [Document], last: Int64?) {
    try reading { reader, state in
      let page = try reader.members(after: position, limit: Membership.chunk)
      let documents = try page.compactMap {
        try document(BagPart.Item(member: $0.member), reader, state)
      }
      return (documents, page.last?.position)
    }
  }
}
