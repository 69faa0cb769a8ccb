// SPDX-License-Identifier: MIT

import NanoDocument

/// What a bag in memory knows that the store does not: changes that are not saved yet.
///
/// What is saved stays in the store and is asked for there, so a bag of 100,000 documents takes no
/// more memory than an empty one. This is a value without effects; ``Bag`` guards one by a lock.
struct BagState: Sendable {
  var store: Store?
  var name: String?
  /// The name in the store, or the one that a new bag was made with.
  var savedName: String?
  var base: Base
  private(set) var unsaved: [BagMember: Entry] = [:]
  private(set) var removed: [BagMember: Entry] = [:]
  /// The number of the change that removed everything; nil if none did since the last save.
  private(set) var cleared: Int?
  /// Documents held in memory, nil unless ``Bag/inflate()-()`` was called.
  var inflated: [BagMember: Document]?
  /// Members whose documents were found missing.
  var dangling: Set<BagMember> = []
  /// Up to which position the last save looked for missing documents.
  var sweptTo: Int64 = 0
  /// Bags that were added and saved, as long as somebody holds them.
  var nested: [BagMember: WeakBag] = [:]
  /// Saves whose transactions are not over yet, in their order.
  var uncommitted: [UncommittedSave] = []
  private var lastNumber = 0

  /// What the changes are changes of.
  enum Base {
    /// A new bag.
    case none
    /// What the store has under the bag's key.
    case stored
    /// A new bag that begins with the saved members of the one it is a copy of.
    case inherited(InheritedMembers)

    var isStored: Bool { if case .stored = self { true } else { false } }
  }

  struct Entry {
    let member: BagMember
    let content: Content
    /// Tells a later change of the same member from this one, and orders them.
    let number: Int
    /// Whether it was removed before, so that it comes to stand last.
    var isMoved = false
  }

  enum Content {
    /// A document, and whether it must be written even if the store has it.
    case document(Document, isEdited: Bool)
    case bag(Bag)
    /// Something that the store has, or the bag itself.
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
    !base.isStored || isRenamed || isCleared || !unsaved.isEmpty || !removed.isEmpty
  }
  /// Texts with the same bytes: String takes differently composed ones for the same.
  var isRenamed: Bool {
    guard let name, let savedName else { return (name == nil) != (savedName == nil) }
    return !name.isSame(as: savedName)
  }
  var isCleared: Bool { cleared != nil }
  /// Members that are both here and, perhaps, saved.
  var pending: [BagMember] { Array(unsaved.keys) + Array(removed.keys) }
  var unsavedEntries: [Entry] { unsaved.values.sorted { $0.number < $1.number } }
  var removedEntries: [Entry] { removed.values.sorted { $0.number < $1.number } }

  private mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }
}

extension BagState {
  mutating func add(_ member: BagMember, _ content: Content) {
    let wasRemoved = removed.removeValue(forKey: member) != nil
    let old = unsaved[member]
    unsaved[member] = Entry(
      member: member, content: content, number: nextNumber(),
      isMoved: wasRemoved || old?.isMoved == true)
  }

  /// - Parameter isSaved: Whether the store has it in the bag.
  /// - Returns: Whether it was in the bag.
  mutating func remove(_ member: BagMember, isSaved: Bool) -> Bool {
    guard removed[member] == nil else { return false }
    let old = unsaved.removeValue(forKey: member)
    guard old != nil || (isSaved && !isCleared) else { return false }
    removed[member] = Entry(
      member: member, content: old?.content ?? .stored, number: nextNumber())
    return true
  }

  /// - Parameter hasSaved: Whether the store has anything in the bag.
  mutating func removeAll(hasSaved: Bool) {
    for entry in unsavedEntries { _ = remove(entry.member, isSaved: false) }
    if hasSaved { cleared = nextNumber() }
  }

  /// Back to what is stored.
  mutating func undo() {
    unsaved = [:]
    removed = [:]
    cleared = nil
    name = savedName
  }
}

/// A save as long as its transaction may still be undone.
struct UncommittedSave: Sendable {
  let changes: BagChanges
  /// Tells its transaction from others.
  let owner: ObjectIdentifier

  init(changes: BagChanges, by compensations: RollbackActions) {
    self.changes = changes
    owner = ObjectIdentifier(compensations)
  }
}

extension BagState {
  /// The state as those see it who take part in this transaction, or in none if it is nil: what another one saves is
  /// not saved before it is committed.
  func seen(in transaction: RollbackActions?) -> BagState {
    let owner = transaction.map { ObjectIdentifier($0) }
    var state = self
    for save in uncommitted.reversed() where save.owner != owner { state.restore(save.changes) }
    return state
  }

  /// Whether a transaction that is not over has saved this member.
  func isBeingSaved(_ member: BagMember) -> Bool {
    uncommitted.contains { save in save.changes.unsaved.contains { $0.member == member } }
  }
}

/// What one save writes.
struct BagChanges: Sendable {
  let state: BagState
  let unsaved: [BagState.Entry]
  let removed: [BagState.Entry]
  init(_ state: BagState) {
    self.state = state
    unsaved = state.unsavedEntries
    removed = state.removedEntries
  }
}

extension BagState {
  /// Forgets changes that were written, but not what was changed meanwhile.
  mutating func finish(_ changes: BagChanges, on store: Store) {
    self.store = store
    base = .stored
    savedName = changes.state.name
    for entry in changes.unsaved {
      if let bag = entry.content.bag { nested[entry.member] = WeakBag(bag: bag) }
      if unsaved[entry.member]?.number == entry.number { unsaved[entry.member] = nil }
    }
    for entry in changes.removed where removed[entry.member]?.number == entry.number {
      removed[entry.member] = nil
    }
    if cleared == changes.state.cleared { cleared = nil }
    dangling.subtract(changes.state.dangling)
    nested = nested.filter { $0.value.bag != nil && removed[$0.key] == nil }
  }

  /// Takes changes back whose transaction was undone.
  mutating func restore(_ changes: BagChanges) {
    store = changes.state.store
    base = changes.state.base
    savedName = changes.state.savedName
    cleared = cleared ?? changes.state.cleared
    dangling.formUnion(changes.state.dangling)
    inflated = changes.state.inflated
    for entry in changes.unsaved where unsaved[entry.member] == nil {
      if removed[entry.member] == nil { unsaved[entry.member] = entry }
    }
    for entry in changes.removed where removed[entry.member] == nil {
      if unsaved[entry.member] == nil { removed[entry.member] = entry }
    }
  }

  /// The bag was removed from the store: what it held there is gone, what is unsaved stays.
  mutating func detach() {
    base = .none
    removed = [:]
    cleared = nil
    inflated = nil
    dangling = []
    sweptTo = 0
  }
}

struct WeakBag {
  weak var bag: Bag?
}

/// The members that a copy begins with, in order.
final class InheritedMembers: Sendable {
  let members: [BagMember]
  private let all: Set<BagMember>

  init(_ members: [BagMember]) {
    self.members = members
    all = Set(members)
  }

  func contains(_ member: BagMember) -> Bool { all.contains(member) }
}
