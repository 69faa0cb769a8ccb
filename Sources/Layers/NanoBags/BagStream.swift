// SPDX-License-Identifier: MIT

public import NanoDocument

/// An asynchronous sequence of the saved documents of a bag.
///
/// It reads them in pages of a few hundred.
///
/// ```swift
/// for try await song in everything.stream() { … }
/// ```
///
/// Each page is read when it is needed, so the loop may change the store and the bag, and no
/// connection stays busy. Documents added in the meantime are included. No document is returned
/// twice, unless it is removed from the bag and added again: a loop that does this with every
/// document does not end.
public struct BagStream: AsyncSequence, Sendable {
  /// The documents of the bag.
  public typealias Element = Document
  let bag: Bag

  /// Returns an iterator, which starts reading with its first call.
  public func makeAsyncIterator() -> Iterator { Iterator(bag: bag) }

  /// Iterates over the documents of a bag.
  public struct Iterator: AsyncIteratorProtocol {
    let bag: Bag
    private var last: Membership.Place?
    private var batch: ArraySlice<Document> = []
    private var isOver = false

    init(bag: Bag) { self.bag = bag }

    /// Returns the next document, or nil at the end.
    public mutating func next() async throws -> Document? {
      while batch.isEmpty, !isOver {
        let place = last
        let bag = bag
        let page = try await bag.onReader { try bag.savedDocuments(after: place) }
        batch = page.documents[...]
        if let next = page.last { last = next } else { isOver = true }
      }
      return batch.popFirst()
    }
  }
}

extension Bag {
  /// Returns the saved documents of the bag as an asynchronous sequence that uses constant memory.
  ///
  /// Unsaved changes are ignored: removed documents are included, and edited ones are returned as
  /// stored.
  public func stream() -> BagStream { BagStream(bag: self) }

  /// - Returns: The documents, and the place of the last member; nil at the end.
  fileprivate func savedDocuments(
    after place: Membership.Place?
  ) throws -> (documents: [Document], last: Membership.Place?) {
    try reading { reader, state in
      let page = try reader.members(after: place, limit: Membership.chunk)
      let documents = try page.compactMap {
        try document(BagPart.Item(member: $0.member), reader, state)
      }
      return (documents, page.last?.place)
    }
  }
}
