// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Model final class Badge {
  static let indexes: [ModelIndex<Badge>] = [.unique(\.floor, \.desk)]
  @Unique var code: String?
  var floor: Int?
  var desk: Int?

  init(_ code: String?) { self.code = code }
}

@MainActor
@Suite("Unique values in object graphs")
struct UniqueValueTests {
  private let store: Store
  private let context: ObjectContext
  private let badges: [Badge]

  /// Stores four badges with the codes "1" to "4".
  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
    badges = ["1", "2", "3", "4"].map { Badge($0) }
    for badge in badges { try context.insert(badge) }
    try context.save()
  }

  private func setCodes(_ codes: [String?]) {
    for (badge, code) in zip(badges, codes) { badge.code = code }
  }

  /// The stored codes in insertion order.
  private func stored() throws -> [String] {
    try ObjectContext(store).all(Badge.self).map { $0.code ?? "none" }
  }

  /// Saves changes of some badges in another context.
  private func changeElsewhere(_ indexes: Int...) throws {
    let other = ObjectContext(store, isLive: false)
    let badges = try other.all(Badge.self)
    for index in indexes { badges[index].desk = 7 }
    try other.save()
  }

  private func delete(_ badge: Badge) throws { try context.delete(badge) }
  private func saveNow() throws { try context.save() }

  private func save(isAsync: Bool) async throws {
    if isAsync { try await context.save() } else { try saveNow() }
  }

  @Test(
    "A save exchanges, rotates and shifts unique values",
    arguments: [
      ["2", "1", "3", "4"], ["2", "3", "1", "4"], ["3", "1", "2", "4"], ["2", "1", "4", "3"],
      ["2", "3", "4", "5"], ["0", "1", "2", "3"], ["4", "3", "2", "1"],
    ], [false, true])
  func exchange(codes: [String], isAsync: Bool) async throws {
    setCodes(codes)

    try await save(isAsync: isAsync)

    #expect(try stored() == codes && !context.hasUnsavedChanges)
  }

  @Test("Objects can be changed, undone and saved after an exchange", arguments: [false, true])
  func later(isAsync: Bool) async throws {
    setCodes(["2", "1"])
    try await save(isAsync: isAsync)

    badges[0].floor = 1
    badges[1].floor = 2
    try await save(isAsync: isAsync)
    #expect(try context.undo() && context.undo())
    try await save(isAsync: isAsync)

    #expect(try stored() == ["1", "2", "3", "4"])
    #expect(try context.redo())
    try await save(isAsync: isAsync)
    #expect(try stored() == ["2", "1", "3", "4"])
  }

  @Test("A change by another context after an exchange is a conflict", arguments: [false, true])
  func conflictAfterExchange(isAsync: Bool) async throws {
    setCodes(["2", "1"])
    try await save(isAsync: isAsync)
    try changeElsewhere(0)

    badges[0].floor = 1
    await #expect(throws: ObjectConflictError.self) { try await save(isAsync: isAsync) }
  }

  @Test("A new object can take the value of a changed or deleted object", arguments: [false, true])
  func insertion(isAsync: Bool) async throws {
    for code in ["1", "4"] { try context.insert(Badge(code)) }
    badges[0].code = "2"
    badges[1].code = "3"
    badges[2].code = "5"
    try delete(badges[3])

    try await save(isAsync: isAsync)

    #expect(try stored() == ["2", "3", "5", "1", "4"])
  }

  @Test("An object that undo inserts again takes its value back", arguments: [false, true])
  func insertionAgain(isAsync: Bool) async throws {
    try context.undoGroup {
      try delete(badges[0])
      badges[1].code = "1"
      badges[2].code = "2"
    }
    try await save(isAsync: isAsync)
    #expect(try stored() == ["1", "2", "4"])

    #expect(try context.undo())
    try await save(isAsync: isAsync)

    #expect(try stored() == ["1", "2", "3", "4"])
  }

  @Test("A unique index over several properties allows exchanges", arguments: [false, true])
  func compound(isAsync: Bool) async throws {
    for (index, badge) in badges.enumerated() { (badge.floor, badge.desk) = (1, index) }
    try await save(isAsync: isAsync)

    for (index, badge) in badges.enumerated() { badge.desk = (index + 1) % 4 }
    try await save(isAsync: isAsync)

    #expect(try await ObjectContext(store).all(Badge.self).map(\.desk) == [1, 2, 3, 0])
  }

  @Test(
    "A value that two objects have in the end is an error, and nothing is saved",
    arguments: [false, true])
  func duplicate(isAsync: Bool) async throws {
    setCodes(["2", "1", "1", "5"])

    let error = await #expect(throws: StoreError.self) { try await save(isAsync: isAsync) }

    #expect(error?.code == .uniqueViolation && error?[.collection] == "Badge")
    #expect(try stored() == ["1", "2", "3", "4"] && context.changedObjects.count == 4)
    badges[2].code = "4"
    try await save(isAsync: isAsync)
    #expect(try stored() == ["2", "1", "4", "5"])
  }

  @Test("A value that a stored object keeps is an error, and nothing is saved")
  func kept() throws {
    setCodes(["2", "4"])

    let error = #expect(throws: StoreError.self) { try context.save() }

    #expect(error?.code == .uniqueViolation && error?[.collection] == "Badge")
    #expect(try stored() == ["1", "2", "3", "4"])
  }

  @Test("Conflicts are reported before the duplicates that they cause", arguments: [false, true])
  func conflict(isAsync: Bool) async throws {
    try changeElsewhere(1)
    setCodes(["2", "1"])

    let error = await #expect(throws: ObjectConflictError.self) {
      try await save(isAsync: isAsync)
    }
    #expect(error?.conflicts.map(\.id.rowID) == [2])
    #expect(try stored() == ["1", "2", "3", "4"])

    context.conflictPolicy = .overwrite
    try await save(isAsync: isAsync)
    #expect(try stored() == ["2", "1", "3", "4"])
  }

  @Test("Merged versions can exchange values, and the closure runs once per conflict")
  func merge() throws {
    try changeElsewhere(0, 1)
    setCodes(["2", "1"])
    var count = 0
    context.conflictPolicy = .merge { conflict in
      count += 1
      return conflict.mine
    }

    try context.save()

    #expect(try stored() == ["2", "1", "3", "4"] && count == 2)
    badges[0].floor = 1
    try context.save()
  }

  @Test("Overwriting inserts a deleted document again with a value that another object gives up")
  func overwriteDeleted() throws {
    try store["Badge"].delete(rowID: 1)
    setCodes(["2", "3", "1"])
    context.conflictPolicy = .overwrite

    try context.save()

    #expect(try stored() == ["2", "3", "1", "4"])
    setCodes(["1", "2", "3"])
    context.conflictPolicy = .fail
    try context.save()
    #expect(try stored() == ["1", "2", "3", "4"])
  }
}
