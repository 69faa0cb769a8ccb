// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

@Model final class Box {
  var number = 0
  @Indexed var text: String?
  var tags: [String] = []
  @Relationship(inverse: \Thing.boxes) var things: [Thing] = []
  @Relationship var cover: Thing?
  @Relationship var mixed: [any GraphObject] = []

  init(_ number: Int) { self.number = number }
}

@Model final class Thing {
  var number = 0
  @Inverse var boxes: [Box]
  @Relationship var box: Box?

  init(_ number: Int) { self.number = number }
}

/// A context with random unsaved changes, and random queries over it.
struct UnsavedChangesModel {
  let context: ObjectContext
  var random: SplitMix
  var log: [String] = []

  init(seed: UInt64, _ store: Store? = nil) throws {
    context = ObjectContext(try store ?? anyStore())
    random = SplitMix(seed: seed)
  }

  mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }
  mutating func pick<Value>(_ some: [Value]) -> Value? {
    some.isEmpty ? nil : some[pick(some.count)]
  }
  mutating func word() -> String? { pick(["a", "b", "ab", "B", "", nil]).flatMap { $0 } }

  /// Makes a change that is no save.
  mutating func changeWithoutSaving() throws { try change(pick(14)) }

  mutating func change() throws { try change(pick(15)) }

  private mutating func change(_ step: Int) throws {
    let boxes = try context.all(Box.self)
    let things = try context.all(Thing.self)
    log.append("\(step)")
    switch step {
    case 0, 1, 2:
      let box = Box(pick(5))
      box.text = word()
      if let thing = pick(things) { box.things = [thing] }
      if pick(3) == 0 { box.cover = Thing(pick(5)) }
      try context.insert(box)
    case 3: try context.insert(Thing(pick(5)))
    case 4: pick(boxes)?.number = pick(5)
    case 5: pick(boxes)?.text = word()
    case 6: pick(boxes)?.tags = (0..<pick(3)).compactMap { _ in word() }
    case 7: pick(boxes)?.things = (0..<pick(3)).compactMap { _ in pick(things) }
    case 8: pick(boxes)?.cover = pick(things)
    case 9: pick(boxes)?.mixed = (0..<pick(3)).compactMap { _ in pick(things) }
    case 10: pick(things)?.box = pick(boxes)
    case 11: if let box = pick(boxes) { try context.delete(box) }
    case 12: if let thing = pick(things) { try context.delete(thing) }
    case 13: try context.undo()
    default: if pick(3) == 0 { try context.save() } else { try context.closeUndoGroup() }
    }
  }

  /// Makes a change and returns all boxes, so that they are kept in memory.
  mutating func changeAll() throws -> [AnyObject] {
    try change()
    return try context.all(Box.self)
  }

  /// Returns a random condition. Objects in it are stored, since a condition on a new object matches
  /// nothing after the save.
  mutating func condition(_ depth: Int = 2) throws -> ModelCondition<Box> {
    let properties = ModelProperties<Box>()
    let stored = try context.all(Thing.self).filter { $0.objectID != nil }
    switch pick(depth > 0 ? 14 : 10) {
    case 0: return \Box.number > pick(5)
    case 1: return \Box.number != pick(5)
    case 2: return \Box.text == word()
    case 3: return properties.text.hasPrefix(word() ?? "a")
    case 4: return properties.tags.contains(word() ?? "a")
    case 5: return .all
    case 6: return pick(stored).map { properties.things.contains($0) } ?? .all
    case 7: return pick(stored).map { properties.cover.isObject($0) } ?? .all
    case 8: return ModelCondition(#Predicate<Box> { $0.things.isEmpty })
    case 9: return ModelCondition(#Predicate<Box> { $0.things.count == 1 })
    case 10: return try !condition(depth - 1)
    case 11, 12: return try condition(depth - 1) && condition(depth - 1)
    default: return try condition(depth - 1) || condition(depth - 1)
    }
  }

  mutating func query() throws -> ObjectQuery<Box> {
    var query = context.find(try condition())
    switch pick(6) {
    case 0: query = query.sorted(by: \.number)
    case 1: query = query.sorted(by: \.text, order: .reverse)
    case 2: query = query.sorted(by: \.text, \.number)
    case 3: query = query.sorted(using: .reverse(\.number), .forward(\.text))
    default: break
    }
    if pick(2) == 0 { query = query.limit(pick(5), offset: pick(3)) }
    if pick(8) == 0 { query = query.limit(nil, offset: pick(4)) }
    return query
  }
}

/// The results of the terminal methods of a query.
private struct Results: Equatable {
  var objects: [ObjectIdentifier]
  var faults: [ObjectIdentifier]
  var count: Int
  var exists: Bool

  static func all(_ queries: [ObjectQuery<Box>]) throws -> [Results] {
    try queries.map { try Results($0) }
  }

  init(_ query: ObjectQuery<Box>) throws {
    objects = try query.fetch().map { ObjectIdentifier($0) }
    faults = try query.faults().map { ObjectIdentifier($0) }
    count = try query.count()
    exists = try query.exists()
  }

  init(
    _ query: ObjectQuery<Box>, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    objects = try await query.fetch().map { ObjectIdentifier($0) }
    faults = try await query.faults().map { ObjectIdentifier($0) }
    count = try await query.count()
    exists = try await query.exists()
  }
}

@Suite("Random queries with unsaved changes")
struct RandomUnsavedQueryTests {
  @MainActor
  @Test(
    "A query returns the same objects in the same order before and after its changes are saved",
    arguments: 1...TestEngine.trials(200))
  func agrees(seed: Int) async throws {
    var model = try UnsavedChangesModel(seed: UInt64(seed))
    var kept: [AnyObject] = []
    for _ in 0..<2 {
      for _ in 0..<12 { kept += try model.changeAll() }
      var queries: [ObjectQuery<Box>] = []
      for _ in 0..<6 { queries.append(try model.query()) }
      let before = try Results.all(queries)
      var awaited: [Results] = []
      for query in queries { awaited.append(try await Results(query)) }
      try { try model.context.save() }()
      let after = try Results.all(queries)
      for index in queries.indices {
        #expect(before[index] == after[index], "\(queries[index].models), \(model.log)")
        #expect(awaited[index] == after[index], "\(queries[index].models), \(model.log)")
      }
      guard before == after else { return }
    }
  }
}
