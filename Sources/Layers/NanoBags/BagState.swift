// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// The state of a bag in memory: changes that are not saved yet.
///
/// Saved members stay in the store and are read from there, so a bag of 100,000 documents takes no
/// more memory than an empty one. This is a pure value; ``Bag`` protects it with a lock.
struct BagState: Sendable {
  var store: Store?
  var name: String?
  /// The stored name, or the name that a new bag was created with.
  var savedName: String?
  var base: Base
  /// Whether all changes of a bag that is not stored were undone, so that there is nothing to save.
  private var isEmptied = false
  private(set) var unsaved: [BagMember: Entry] = [:]
  private(set) var removed: [BagMember: Entry] = [:]
  /// The number of the change that removed all members; nil if there was none since the last save.
  private(set) var cleared: Int?
  /// Documents loaded into memory; nil unless ``Bag/inflate()-()`` was called.
  var inflated: [BagMember: Document]?
  /// Members whose documents were found to be missing.
  var dangling: Set<BagMember> = []
  /// The place up to which the last save checked for missing documents; nil for the beginning.
  var sweptTo: Membership.Place?
  /// Bags that were added and saved, while they are retained elsewhere.
  var nested: [BagMember: WeakBag] = [:]
  /// Saves and deletions whose transactions have not ended yet, in order.
  var uncommitted: [UncommittedWrite] = []
  /// Counts the saves and deletions, and their commits and rollbacks.
  private(set) var generation = 0
  private var lastNumber = 0

  /// The starting point of the changes.
  enum Base {
    /// A new bag.
    case none
    /// The stored bag with this key.
    case stored
    /// A new bag that starts with the saved members of the bag that it is a copy of.
    case inherited(InheritedMembers)

    var isStored: Bool { if case .stored = self { true } else { false } }
  }

  struct Entry {
    let member: BagMember
    var content: Content
    /// Distinguishes later changes of the same member.
    let number: Int
    /// Orders the entries: the number of the change that added or removed the member.
    let order: Int
    /// Whether it was removed before, and is therefore appended at the end.
    var isMoved = false
  }

  enum Content {
    /// A document, and whether it must be written even if it is in the store.
    case document(Document, isEdited: Bool)
    case bag(Bag)
    /// A stored member, or the bag itself.
    case stored

    var document: Document? { if case .document(let document, _) = self { document } else { nil } }
    var bag: Bag? { if case .bag(let bag) = self { bag } else { nil } }
  }

  init(store: Store?, name: String?, base: Base) {
    self.store = store
    self.name = name
    self.base = base
    savedName = name
  }

  var hasUnsavedChanges: Bool {
    isNew || isRenamed || isCleared || !unsaved.isEmpty || !removed.isEmpty
  }
  /// Whether a save writes the bag. An empty bag whose changes were undone is written if another bag contains it.
  var needsWriting: Bool { hasUnsavedChanges || !base.isStored }
  private var isNew: Bool { !base.isStored && !isEmptied }
  /// Compared by bytes: String treats canonically equivalent names as equal.
  var isRenamed: Bool { !Self.areSame(name, savedName) }
  var isCleared: Bool { cleared != nil }
  /// Members with unsaved changes, which may also be saved.
  var pending: [BagMember] { Array(unsaved.keys) + Array(removed.keys) }
  var unsavedEntries: [Entry] { unsaved.values.sorted { $0.order < $1.order } }
  var removedEntries: [Entry] { removed.values.sorted { $0.order < $1.order } }

  private static func areSame(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return (a == nil) == (b == nil) }
    return a.hasSameBytes(as: b)
  }

  private mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }
}

extension BagState {
  /// - Parameter isMoved: Whether it was removed from the stored or inherited members before.
  mutating func add(_ member: BagMember, _ content: Content, isMoved: Bool = false) {
    let gone = removed.removeValue(forKey: member)
    let old = unsaved[member]
    let content = Self.content(content, after: (old ?? gone)?.content)
    let number = nextNumber()
    unsaved[member] = Entry(
      member: member, content: content, number: number, order: old?.order ?? number,
      isMoved: isMoved || gone != nil || old?.isMoved == true)
  }

  /// Returns what is written for a member that was added or removed before. The document that adding returned has no
  /// unsaved changes of its own, although it is not saved yet.
  private static func content(_ new: Content, after old: Content?) -> Content {
    guard case .document(let document, isEdited: false) = new, document.rowID == nil,
      case .document(_, isEdited: true)? = old
    else { return new }
    return .document(document, isEdited: true)
  }

  /// - Parameter isSaved: Whether it is stored as a member of the bag.
  /// - Returns: Whether it was in the bag.
  mutating func remove(_ member: BagMember, isSaved: Bool) -> Bool {
    guard removed[member] == nil else { return false }
    let old = unsaved.removeValue(forKey: member)
    guard old != nil || (isSaved && !isCleared) else { return false }
    let number = nextNumber()
    removed[member] = Entry(
      member: member, content: old?.content ?? .stored, number: number, order: number)
    return true
  }

  /// - Parameter hasSaved: Whether the bag has stored members.
  mutating func removeAll(hasSaved: Bool) {
    for entry in unsavedEntries { _ = remove(entry.member, isSaved: false) }
    // Otherwise a commit or a rollback would add them again.
    for member in beingSaved { _ = remove(member, isSaved: true) }
    if hasSaved { cleared = nextNumber() }
  }

  /// Reverts to the stored state.
  mutating func undo() {
    unsaved = [:]
    removed = [:]
    cleared = nil
    name = savedName
    // A copy has the members of its original again, which are not stored as its members.
    if case .none = base { isEmptied = true }
  }
}

/// A save or deletion whose transaction may still be rolled back.
struct UncommittedWrite: Sendable {
  /// The state before, and what was saved.
  var changes: BagChanges
  let isDeletion: Bool
  /// The generation that it began.
  let number: Int
  /// Identifies the transaction.
  let owner: ObjectIdentifier
}

extension BagState {
  /// Returns the state as visible inside this transaction, or outside of any if it is nil: a save
  /// or deletion of a different transaction is not visible until it commits.
  func seen(in transaction: RollbackActions?) -> BagState {
    let owner = transaction.map { ObjectIdentifier($0) }
    var state = self
    // By index: a copy of each record would cost more than the comparison, and a transaction can have many.
    for index in uncommitted.indices.reversed() where uncommitted[index].owner != owner {
      state.revert(uncommitted[index])
    }
    return state
  }

  /// The members that unfinished transactions have added, in order.
  var beingSaved: [BagMember] {
    var members: [BagMember] = []
    for write in uncommitted {
      let state = write.changes.state
      if state.isCleared || write.isDeletion { members = [] }
      if write.isDeletion { continue }
      members.removeAll { state.removed[$0] != nil }
      members += write.changes.unsaved.map(\.member)
    }
    return members
  }

  /// Sets the stored name, as a transaction or, if it is nil, code outside of any has read it.
  mutating func setStoredName(_ stored: String?, in transaction: RollbackActions?) {
    let owner = transaction.map { ObjectIdentifier($0) }
    let isKept = seen(in: transaction).isRenamed
    let others = uncommitted.indices.filter { uncommitted[$0].owner != owner }
    if others.isEmpty { base = .stored }
    for index in others where !uncommitted[index].isDeletion {
      let before = uncommitted[index].changes.state
      uncommitted[index].changes.state.savedName = stored
      // The name that this save wrote is the stored one once it commits.
      if before.isRenamed || !before.base.isStored { return }
      uncommitted[index].changes.state.name = stored
    }
    if !isKept { name = stored }
    savedName = stored
  }

  /// Reverts ``setStoredName(_:in:)``, whose transaction was rolled back, unless the name was saved since then.
  mutating func revertStoredName(
    _ stored: String?, to old: (name: String?, savedName: String?)
  ) {
    guard Self.areSame(savedName, stored) else { return }
    if !isRenamed { name = old.name }
    savedName = old.savedName
  }

  /// Sets the loaded documents, as a transaction or, if it is nil, code outside of any has read them.
  mutating func setInflated(
    _ loaded: [BagMember: Document], in transaction: RollbackActions?
  ) {
    let owner = transaction.map { ObjectIdentifier($0) }
    inflated = loaded
    for index in uncommitted.indices where uncommitted[index].owner != owner {
      if uncommitted[index].isDeletion { inflated = nil }
      uncommitted[index].changes.state.inflated = loaded
    }
  }
}

/// The changes written by one save.
struct BagChanges: Sendable {
  var state: BagState
  let unsaved: [BagState.Entry]
  let removed: [BagState.Entry]
  init(_ state: BagState) {
    var state = state
    // Otherwise each write would retain a copy of the list of all earlier ones of its transaction.
    state.uncommitted = []
    self.state = state
    unsaved = state.unsavedEntries
    removed = state.removedEntries
  }
}

extension BagState {
  /// Removes changes that were written, except changes made in the meantime.
  ///
  /// - Parameter owner: The transaction, which may still be rolled back.
  mutating func finish(_ changes: BagChanges, on store: Store, by owner: ObjectIdentifier?) {
    // This save includes the changes of other transactions' saves, and has waited for their rows. On a server, such a
    // transaction has ended although it has not reported it here yet, and must not restore changes that are saved.
    uncommitted.removeAll { $0.owner != owner }
    self.store = store
    base = .stored
    isEmptied = false
    savedName = changes.state.name
    if changes.state.isCleared { nested = [:] }
    for entry in changes.removed { nested[entry.member] = nil }
    for entry in changes.unsaved {
      if let bag = entry.content.bag { nested[entry.member] = WeakBag(bag: bag) }
      if unsaved[entry.member]?.number == entry.number { unsaved[entry.member] = nil }
    }
    for entry in changes.removed where removed[entry.member]?.number == entry.number {
      removed[entry.member] = nil
    }
    if cleared == changes.state.cleared { cleared = nil }
    dangling.subtract(changes.state.dangling)
    nested = nested.filter { $0.value.bag != nil }
    begin(changes, isDeletion: false, by: owner)
  }

  private mutating func begin(
    _ changes: BagChanges, isDeletion: Bool, by owner: ObjectIdentifier?
  ) {
    generation += 1
    guard let owner else { return }
    // Retained until the transaction ends, so the record contains only what a rollback needs.
    var changes = changes
    changes.state.nested = changes.state.nested.filter { nested[$0.key] == nil }
    // Each write of a bag with loaded documents copies all of them. If a later one alone is rolled back, documents are
    // read from the store instead.
    if uncommitted.contains(where: { $0.owner == owner }) { changes.state.inflated = nil }
    uncommitted.append(
      UncommittedWrite(
        changes: changes, isDeletion: isDeletion, number: generation, owner: owner))
  }

  /// Restores the state before a save or deletion that was rolled back, unless a later save includes it.
  ///
  /// - Parameter number: The generation that it began.
  mutating func rollBack(_ number: Int) {
    guard let index = uncommitted.firstIndex(where: { $0.number == number }) else { return }
    generation += 1
    revert(uncommitted.remove(at: index))
  }

  /// Restores the state before a save or deletion. Changes made in the meantime are kept.
  private mutating func revert(_ write: UncommittedWrite) {
    let old = write.changes.state
    base = old.base
    isEmptied = old.isEmptied
    cleared = cleared ?? old.cleared
    dangling.formUnion(old.dangling)
    sweptTo = old.sweptTo
    inflated = old.inflated
    if !write.isDeletion { restoreSaved(write.changes) }
    for entry in write.changes.removed
    where removed[entry.member] == nil && unsaved[entry.member] == nil {
      removed[entry.member] = entry
    }
  }

  /// Restores what only a save changes.
  private mutating func restoreSaved(_ changes: BagChanges) {
    store = changes.state.store
    savedName = changes.state.savedName
    nested.merge(changes.state.nested) { known, _ in known }
    for entry in changes.unsaved {
      // An edited document that was added or removed again since then is still to be written.
      if let present = unsaved[entry.member] {
        unsaved[entry.member]?.content = Self.content(present.content, after: entry.content)
      } else if let present = removed[entry.member] {
        if case .stored = present.content { removed[entry.member]?.content = entry.content }
      } else {
        unsaved[entry.member] = entry
      }
    }
  }

  /// Forgets the saves and deletions of a transaction that has ended.
  mutating func end(_ owner: ObjectIdentifier?) {
    generation += 1
    uncommitted.removeAll { $0.owner == owner }
  }

  /// Detaches the bag after it was deleted from the store: saved members are lost, unsaved ones
  /// kept.
  ///
  /// - Parameter owner: The transaction, which may still be rolled back.
  mutating func detach(by owner: ObjectIdentifier?) {
    begin(BagChanges(self), isDeletion: true, by: owner)
    base = .none
    isEmptied = false
    removed = [:]
    cleared = nil
    inflated = nil
    dangling = []
    sweptTo = nil
  }
}

extension BagState {
  /// The bags that were added and saved and still exist, without those to be removed by the next save.
  var storedNested: [Bag] {
    guard !isCleared else { return [] }
    return nested.compactMap { member, nested -> Bag? in
      guard removed[member] == nil, let bag = nested.bag else { return nil }
      return bag.snapshot.base.isStored ? bag : nil
    }
  }
}

struct WeakBag {
  weak var bag: Bag?
}

/// The members that a copy starts with, in order.
final class InheritedMembers: Sendable {
  let members: [BagMember]
  private let all: Set<BagMember>

  init(_ members: [BagMember]) {
    self.members = members
    all = Set(members)
  }

  func contains(_ member: BagMember) -> Bool { all.contains(member) }
}
