// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The cached documents of one collection, as a pure value.
struct CacheContents {
  /// See ``DocumentCollection/cacheSize``.
  var size: Int
  private var incarnation: Int64?
  private(set) var kept = LRUDocuments()
  private var inUse = UniquedDocuments()
  /// The memory size of the retained documents.
  private(set) var bytes = 0
  /// Whether querying row IDs first is likely to avoid reading documents: positive if it did
  /// recently.
  private var credit = 0
  private var lookups = CurrentLookups()

  init(size: Int) { self.size = size }
}

extension CacheContents {
  /// Returns the document for a row that was read: the cached one if its content is the same.
  ///
  /// - Parameters:
  ///   - stored: The row.
  ///   - isCommitted: Whether the content is committed, so that it may be cached.
  ///   - state: The database state in which it was read, if known.
  ///   - make: Creates the document from the row.
  mutating func document(
    _ stored: StoredDocument, isCommitted: Bool, in state: CommittedState?,
    _ make: () -> Document
  ) -> (document: Document, wasKnown: Bool) {
    // A row last written by another program can change at any time.
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

  /// - Parameter inPlace: Whether a document of this row is already cached.
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

  /// Evicts the least recently used documents until at most ``size`` are retained.
  mutating func trim() { while kept.count > max(0, size) { dropOldest() } }

  /// Releases one document. It is still tracked while the program retains it.
  mutating func dropOldest() {
    guard let (document, rowID, content) = kept.removeOldest() else { return }
    bytes -= document.memorySize
    var last = document
    if !last.isUniquelyReferenced() { inUse.insert(document, rowID, content) }
  }

  /// Releases all documents. Those retained by the program are still tracked.
  mutating func flush() {
    while kept.count > 0 { dropOldest() }
    lookups = CurrentLookups()
  }

  /// Forgets all documents, including those retained by the program.
  mutating func removeAll() {
    kept.removeAll()
    inUse.removeAll()
    bytes = 0
    incarnation = nil
    credit = 0
    lookups = CurrentLookups()
  }

  /// Returns the content version of a returned document; nil if a different document now represents
  /// the row.
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
  /// Whether a query should request row IDs first.
  var prefersRowIDs: Bool { credit > 0 }

  private static let mostCredit = 4

  /// Records how many of the documents that were read were already cached.
  mutating func noteRead(_ count: Int, known: Int) {
    let wasSpare = count > 0 && known * 4 >= count * 3
    credit = wasSpare ? min(credit + 1, Self.mostCredit) : max(credit - 1, 0)
  }

  /// Appends the cached documents of these rows that are known to be current in their state, in
  /// order.
  ///
  /// - Returns: The positions of the missing documents; nil if there are so many that reading all
  ///   of them is faster.
  mutating func documents(
    of found: RowIDResult, in state: CommittedState, into documents: inout [Document]
  ) -> [Int]? {
    guard found.incarnation == incarnation else { return nil }
    let most = found.rowIDs.count / 4
    var missing: [Int] = []
    documents.reserveCapacity(found.rowIDs.count)
    for (position, rowID) in found.rowIDs.enumerated() {
      if let document = kept.use(rowID, where: { $0.isKnown(in: state) }) {
        documents.append(document)
      } else if let (document, content) = inUse.content(of: rowID), content.isKnown(in: state) {
        documents.append(document)
      } else {
        missing.append(position)
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

extension CacheContents {
  /// Returns the document that was found for this identity after the same commit.
  mutating func document(_ identity: Identity, after commit: CommitStamp) -> Document? {
    guard let found = lookups.find(identity, after: commit), incarnation == found.incarnation
    else { return nil }
    if let document = kept.use(found.rowID, where: { $0.revision == found.revision }) {
      return document
    }
    guard let (document, content) = inUse.content(of: found.rowID),
      content.revision == found.revision
    else { return nil }
    return document
  }

  /// Records which row was found for an identity, and that no commit followed.
  mutating func note(
    _ identity: Identity, _ rowID: Int64, _ version: ContentVersion, after commit: CommitStamp
  ) {
    lookups.note(identity, rowID, version, after: commit, limit: max(kept.count, 32) * 2)
  }
}
