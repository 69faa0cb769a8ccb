// SPDX-License-Identifier: MIT

/// The revisions that a document has had since this context began to save it without changes by others in between.
///
/// Undo sets the revision on which a restored state is based: a state before one of these revisions is based on the last
/// of them, because the changes since then are the context's own. A state before a change by others keeps its own
/// revision, so that a save detects the conflict.
struct OwnRevisions {
  /// The content that the first save replaced.
  private var origin: Int64
  private var first: Int64
  private(set) var last: Int64
  /// Those before the document was deleted and inserted again, which gives it an arbitrary revision.
  private var earlier: [(first: Int64, last: Int64)] = []

  init(from origin: Int64, to last: Int64) {
    (self.origin, first, self.last) = (origin, last, last)
  }

  /// Notes a save by the context, or with ``LoadedContent/unknown`` that it has inserted the document again.
  mutating func note(from former: Int64, to revision: Int64) {
    if former == LoadedContent.unknown {
      if revision != last { earlier.append((first, last)) }
      (first, last) = (revision, revision)
    } else if former == last, last > 0 {
      last = revision
    } else {
      self = OwnRevisions(from: former, to: revision)
    }
  }

  /// Shifts the last revision, after the documents of a collection were all given later ones.
  mutating func raise(by difference: Int64) { if last > 0 { last += difference } }

  func contains(_ revision: Int64) -> Bool {
    if revision == origin || revision >= first && revision <= last { return true }
    if earlier.contains(where: { revision >= $0.first && revision <= $0.last }) { return true }
    // A new object, whose document got the first revision.
    let start = earlier.first?.first ?? first
    return revision == LoadedContent.unknown && (origin == 1 || start == 1)
  }
}

extension ObjectTable {
  /// The revision of a document that was inserted once.
  private static let firstRevision: Int64 = 1

  /// Notes that the context has saved or deleted a document.
  func noteOwnSave(_ id: Int64, from former: Int64, to revision: Int64) {
    // One look-up: saving a changed object takes less than a microsecond.
    let first = former == LoadedContent.unknown ? revision : former
    ownRevisions[id, default: OwnRevisions(from: first, to: first)]
      .note(from: former, to: revision)
  }

  func noteOwnDeletion(of object: any GraphObject) {
    let (_, id, revision) = object._$object.stored
    removed.insert(id)
    if revision > 0 || LoadedContent.isHash(revision) {
      noteOwnSave(id, from: revision, to: revision)
    } else {
      ownRevisions[id] = nil
    }
  }

  /// The revision on which the state of an object is based, for undo.
  func base(of object: any GraphObject) -> Int64 {
    let (_, id, revision) = object._$object.stored
    guard revision == LoadedContent.unknown else { return revision }
    return ownRevisions[id]?.last ?? revision
  }

  /// Sets the revision that a restored state is based on, so that the save detects changes that others made since then.
  ///
  /// - Parameter base: What ``base(of:)`` returned when the state was recorded.
  func setRevisionForUndo(of object: any GraphObject, base: Int64) {
    let (flags, id, _) = object._$object.stored
    guard !flags.contains(.inserted) else { return }
    let rolledBack = rolledBackContent[id].flatMap { $0.revision == base ? $0.hash : nil }
    if let own = ownRevisions[id], own.contains(base) || rolledBack.map(own.contains) == true {
      object._$object.revision = own.last
    } else if let rolledBack {
      object._$object.revision = rolledBack
    } else if ownRevisions[id] != nil {
      // Not unknown content, which never conflicts.
      object._$object.revision = base == LoadedContent.unknown ? LoadedContent.missing : base
    } else {
      object._$object.revision = base == LoadedContent.unknown ? Self.firstRevision : base
    }
  }

  /// Adjusts revisions after the documents of the collection were all given later ones, or, with a negative difference,
  /// after that was rolled back.
  func raiseRevisions(by difference: Int64) {
    guard difference != 0 else { return }
    var raised: Set<Int64> = []
    for object in allLive() where object._$object.revision > 0 {
      let (flags, id, revision) = object._$object.stored
      object._$object.revision += difference
      guard context.undoLog.isEnabled, !flags.contains(.fault),
        ownRevisions[id]?.contains(revision) != true
      else { continue }
      ownRevisions[id] = OwnRevisions(from: revision, to: revision + difference)
      raised.insert(id)
    }
    for id in ownRevisions.keys where !raised.contains(id) {
      ownRevisions[id]?.raise(by: difference)
    }
    for id in rowIDsOfInserted where id > 0 && ownRevisions[id] == nil {
      ownRevisions[id] = OwnRevisions(
        from: Self.firstRevision, to: Self.firstRevision + difference)
    }
  }
}
