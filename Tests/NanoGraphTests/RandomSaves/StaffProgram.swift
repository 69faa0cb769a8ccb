// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

/// A random program of edits, undo, redo and saves, with the content that the context and the store must have.
@MainActor
final class StaffProgram {
  private struct Group {
    let before: Staff
    let after: Staff
  }
  private struct History {
    var done: [Group] = []
    var undone: [Group] = []
  }

  let store: Store
  let context: ObjectContext
  var random: SplitMix
  /// The expected content of the context.
  var staff = Staff()
  /// The expected content of the store.
  private var saved = Staff()
  private var history = History()
  private var savedHistory = History()
  /// The content before the changes that belong to no closed undo group; nil without such changes.
  private var beforeOpenGroup: Staff?
  /// Instances that the test retains. All others are deallocated unless they have unsaved changes.
  var retained: [AnyObject] = []
  var log: [String] = []
  private var lastNumber = 0

  init(seed: Int) throws {
    store = try anyStore()
    context = ObjectContext(store)
    random = SplitMix(seed: UInt64(seed))
  }

  func takeNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  func pick(_ numbers: some Collection<Int>) -> Int? {
    numbers.isEmpty ? nil : random.pick(numbers.sorted())
  }

  func member(_ number: Int) throws -> Member {
    try #require(try context.all(Member.self).first { $0.number == number })
  }
  func team(_ number: Int) throws -> Team {
    try #require(try context.all(Team.self).first { $0.number == number })
  }
  func room(_ number: Int) throws -> Room {
    try #require(try context.all(Room.self).first { $0.number == number })
  }

  /// Performs a step, and checks the context and the store.
  ///
  /// - Returns: Whether they have the expected content.
  func step() async throws -> Bool {
    switch random.number(0...19) {
    case 0...8: try edit()
    case 9...12: try await save()
    case 13...15: try undo()
    case 16: try redo()
    case 17: try closeGroup()
    case 18:
      retained = []
      if random.oneIn(2) { context.refreshAll() }
    default: if random.oneIn(3) { rollback() }
    }
    return try check()
  }

  // MARK: Undo

  private func edit() throws {
    let isGroup = random.oneIn(3)
    if isGroup { try closeGroup() }
    if beforeOpenGroup == nil { beforeOpenGroup = staff }
    let count = random.number(0...2)
    func edit() throws {
      try makeRecordedEdit()
      for _ in 0..<count { try makeEdit() }
    }
    if isGroup {
      try context.undoGroup { try edit() }
      noteClosedGroup()
    } else {
      try edit()
    }
  }

  private func closeGroup() throws {
    try context.closeUndoGroup()
    noteClosedGroup()
  }

  private func noteClosedGroup() {
    guard let before = beforeOpenGroup else { return }
    beforeOpenGroup = nil
    history.done.append(Group(before: before, after: staff))
    history.undone = []
  }

  private func undo() throws {
    log.append("undo")
    noteClosedGroup()
    let group = history.done.popLast()
    #expect(try context.undo() == (group != nil), "\(log)")
    guard let group else { return }
    staff = group.before
    history.undone.append(group)
  }

  private func redo() throws {
    log.append("redo")
    noteClosedGroup()
    let group = history.undone.popLast()
    #expect(try context.redo() == (group != nil), "\(log)")
    guard let group else { return }
    staff = group.after
    history.done.append(group)
  }

  private func rollback() {
    log.append("rollback")
    context.rollback()
    staff = saved
    history = savedHistory
    beforeOpenGroup = nil
  }

  // MARK: Saving

  private static let invalidDate = Date(timeIntervalSince1970: 1e15)

  private func save() async throws {
    // Otherwise, few saves succeed.
    if staff.hasDuplicates, !random.oneIn(3) {
      if beforeOpenGroup == nil { beforeOpenGroup = staff }
      try makeRecordedEdit()
      try removeDuplicates()
    }
    let isAsync = random.oneIn(3)
    let isRefused = random.oneIn(5)
    log.append((isRefused ? "refused " : "") + (isAsync ? "async save" : "save"))
    // Named values are written last.
    if isRefused { context.setValue(.date(Self.invalidDate), named: "invalid") }
    do {
      if isAsync { try await context.save() } else { try saveNow() }
      #expect(!isRefused && !staff.hasDuplicates && !context.hasUnsavedChanges, "\(log)")
      noteClosedGroup()
      (saved, savedHistory) = (staff, history)
    } catch let error as StoreError {
      let expected: [StoreError.Code] =
        (staff.hasDuplicates ? [.uniqueViolation] : []) + (isRefused ? [.valueNotStorable] : [])
      #expect(expected.contains(error.code), "\(error) after \(log)")
      // An asynchronous save closes the undo group before it writes.
      if isAsync { noteClosedGroup() }
    }
    if isRefused { context.setValue(nil, named: "invalid") }
  }

  private func saveNow() throws { try context.save() }

  // MARK: Checks

  private func check() throws -> Bool {
    let found = try Staff(context)
    let stored = try Staff(ObjectContext(store, isLive: false))
    #expect(found == staff, "\(log)")
    #expect(stored == saved, "\(log)")
    if random.oneIn(2) { try checkInverses(context, staff) }
    if random.oneIn(4) { try checkInverses(ObjectContext(store, isLive: false), saved) }
    return found == staff && stored == saved
  }

  private func checkInverses(_ context: ObjectContext, _ staff: Staff) throws {
    for member in try context.all(Member.self) {
      let teams = member.teams.map(\.number).sorted()
      #expect(teams == staff.teams(of: member.number), "\(log)")
      #expect(member.room?.number == staff.room(of: member.number), "\(log)")
    }
  }
}
