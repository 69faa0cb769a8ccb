// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The documents of one collection that are cached: as a value, without locks.
struct CacheContents {
  /// See ``DocumentCollection/cacheSize``.
  var size: Int
  private var incarnation: Int64?
  private(set) var kept = LRUDocuments()
  private var inUse = UniquedDocuments()
  /// Bytes of what is kept.
  private(set) var bytes = 0
  /// Whether asking for row ids alone is likely to spare reading documents: more than 0 if it was of
  /// late.
  private var credit = 0

  init(size: Int) { self.size = size }
}

extension CacheContents {
  /// The document of a row that was read: the one that is known, if its content is the same.
  ///
  /// - Parameters:
  ///   - isCommitted: Whether what was read is there for good, so that it may be kept.
  ///   - state: What it was read in, if that is known.
  mutating func document(
    _ stored: StoredDocument, isCommitted: Bool, in state: CommittedState?,
    _ make: () -> Document
  ) -> (document: Document, wasKnown: Bool) {
    // What another program wrote last can be something else at any time.
    guard let version = stored.contentVersion else { return (make(), false) }
    let rowID = stored.rowID
    var isKnown = false
    if incarnation == version.incarnation {
      var wasKnown = false
      func isSame(_ content: inout CachedContent) -> Bool {
        guard content.revision == version.revision else { return false }
        if let state {
          wasKnown = content.isKnown(in: state)
          content.note(state)
        }
        return true
      }
      if let document = kept.use(rowID, where: isSame) { return (document, wasKnown) }
      if case (let document, var content)? = known(rowID) {
        if isSame(&content) {
          keep(document, rowID, content, inPlace: true)
          return (document, wasKnown)
        }
        if content.isAhead(of: version.revision) { return (make(), false) }
        isKnown = true
      }
    }
    let document = make()
    guard isCommitted else { return (document, false) }
    if incarnation != version.incarnation {
      removeAll()
      incarnation = version.incarnation
    }
    keep(document, rowID, CachedContent(revision: version.revision, in: state), inPlace: isKnown)
    return (document, false)
  }

  private func known(_ rowID: Int64) -> (document: Document, content: CachedContent)? {
    kept.content(of: rowID) ?? inUse.content(of: rowID)
  }

  /// - Parameter inPlace: Whether a document of this row is known.
  private mutating func keep(
    _ document: Document, _ rowID: Int64, _ content: CachedContent, inPlace: Bool
  ) {
    if inPlace { drop(rowID) }
    guard size > 0 else { return inUse.insert(document, rowID, content) }
    kept.insert(document, rowID, content)
    bytes += document.memorySize
    trim()
  }

  private mutating func drop(_ rowID: Int64) {
    if let old = kept.remove(rowID) { bytes -= old.document.memorySize }
    inUse.remove(rowID)
  }

  /// Lets go of what was used longest ago, until no more than ``size`` is kept.
  mutating func trim() { while kept.count > max(0, size) { dropOldest() } }

  /// Stops keeping one document; the program may still have it.
  mutating func dropOldest() {
    guard let (document, rowID, content) = kept.removeOldest() else { return }
    bytes -= document.memorySize
    var last = document
    if !last.isUniquelyReferenced() { inUse.insert(document, rowID, content) }
  }

  /// Stops keeping all; what the program has is still known.
  mutating func flush() { while kept.count > 0 { dropOldest() } }

  /// Forgets all, also what the program has.
  mutating func removeAll() {
    kept.removeAll()
    inUse.removeAll()
    bytes = 0
    incarnation = nil
    credit = 0
  }

  /// What is known of the row of a document that was handed out; nil if another one stands for it.
  func version(of document: Document, _ rowID: Int64) -> ContentVersion? {
    guard let incarnation, let (current, content) = known(rowID),
      current.hasSameStorage(as: document)
    else { return nil }
    return ContentVersion(incarnation: incarnation, revision: content.revision)
  }

  mutating func forget(_ document: Document, _ rowID: Int64) {
    if version(of: document, rowID) != nil { drop(rowID) }
  }
}

extension CacheContents {
  /// Whether a query should ask for row ids first.
  var prefersRowIDs: Bool { credit > 0 }

  private static let mostCredit = 4

  /// Notes how many of the documents that were read were known without.
  mutating func noteRead(_ count: Int, known: Int) {
    let wasSpare = count > 0 && known * 4 >= count * 3
    credit = wasSpare ? min(credit + 1, Self.mostCredit) : max(credit - 1, 0)
  }

  /// Adds the documents of these rows that are known in their state, in order.
  ///
  /// - Returns: The places of those that are not; nil if they are so many that reading all of them is
  ///   faster.
  mutating func documents(
    of found: RowIDResult, in state: CommittedState, into documents: inout [Document]
  ) -> [Int]? {
    guard found.incarnation == incarnation else { return nil }
    let most = found.rowIDs.count / 4
    var missing: [Int] = []
    documents.reserveCapacity(found.rowIDs.count)
    for (place, rowID) in found.rowIDs.enumerated() {
      if let document = kept.use(rowID, where: { $0.isKnown(in: state) }) {
        documents.append(document)
      } else if let (document, content) = inUse.content(of: rowID), content.isKnown(in: state) {
        documents.append(document)
      } else {
        missing.append(place)
        if missing.count > most {
          credit = 0
          return nil
        }
      }
    }
    credit = Self.mostCredit
    return missing
  }
}
