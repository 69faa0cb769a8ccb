// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Change feeds", .sqlite)
struct FeedTests {
  private func values(_ films: DocumentCollection) throws -> [Int64: Int64] {
    var values: [Int64: Int64] = [:]
    for document in try films.find().fetch() {
      values[document.rowID!] = try Follower.value(of: document)
    }
    return values
  }

  @Test("A page says where to continue, and whether there is more")
  func pages() throws {
    let films = try anyStore()["films"]
    try films.setChangeTracking(.on)
    #expect(try films.changeTracking() == .on)
    for number in 0..<5 as Range<Int64> { try films.save(["n": .int(number)], key: "\(number)") }
    guard case .entries(let first, let next, true) = try films.changes(since: nil, limit: 3),
      case .entries(let second, _, false) = try films.changes(since: next, limit: 3)
    else {
      Issue.record("wrong pages")
      return
    }
    #expect((first + second).compactMap(\.key) == ["0", "1", "2", "3", "4"])
    #expect(first.last?.position == next)
    #expect(first.allSatisfy { $0.document == nil && $0.revision == 1 && !$0.isDeleted })
    #expect(zip(first, first.dropFirst()).allSatisfy { $0.position < $1.position })
  }

  @Test("A position survives as text and JSON; other texts are no positions")
  func positions() throws {
    let films = try anyStore()["films"]
    try films.setChangeTracking(.on)
    try films.save(["n": 1], key: "a")
    guard case .entries(_, let position, _) = try films.changes(since: nil) else { return }
    #expect(FeedPosition("\(position)") == position)
    let data = try JSONEncoder().encode([position])
    #expect(try JSONDecoder().decode([FeedPosition].self, from: data) == [position])
    for text in [
      "", "1", "a.b.c", "1.2", "1.-2.3", "01.2.3", "1.2.3.", "1.+2.3", "é.1.1", "1.2.3.4.5",
    ] {
      #expect(FeedPosition(text) == nil, "\(text)")
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([FeedPosition].self, from: Data(#"["x"]"#.utf8))
    }
  }

  @Test(
    "Buffered saves are in the feed only once they are written, so that no position skips a change",
    arguments: [false, true])
  func buffered(inFile: Bool) throws {
    let scratch = try Scratch()
    let store = try Store(inFile ? .file(scratch.file("a.db")) : .memory)
    let films = store["films"]
    try films.setChangeTracking(.on)
    store.saveInterval = 10
    try films.save(["n": 1], key: "a")
    guard case .entries(let none, let start, false) = try films.changes(since: nil) else {
      Issue.record("wrong page")
      return
    }
    #expect(none.isEmpty)
    try store.read {
      let count = try films.count()
      #expect(count == 1)
      #expect(code { _ = try films.changes(since: nil) } == .invalidArgument)
    }
    try films.save(["n": 2], key: "a")
    try store.flush()
    guard
      case .entries(let first, let next, false) = try films.changes(
        since: start, withDocuments: true)
    else {
      Issue.record("wrong page")
      return
    }
    #expect(first.map { $0.document?["n"] } == [2])
    #expect(try store.read { try films.changes(since: next) }.isEmpty)

    try films.save(["n": 3], key: "a")
    #expect(try films.changes(since: next).isEmpty)
    store.discardUnsavedChanges()
    try films.insert(["n": 4], key: "b")
    guard case .entries(let second, _, false) = try films.changes(since: next) else {
      Issue.record("wrong page")
      return
    }
    #expect(second.map(\.key) == ["b"])
  }

  @Test("Filters leave out other documents, and pages go on after them")
  func filters() throws {
    let films = try anyStore()["films"]
    try films.setChangeTracking(.on)
    for number in 0..<50 as Range<Int64> { try films.save(["n": .int(number)], key: "\(number)") }
    try films.delete("7")
    try films.delete("8")
    guard
      case .entries(let large, let next, false) = try films.changes(
        since: nil, limit: 10, matching: Field("n") >= 45),
      case .entries(let none, _, false) = try films.changes(since: next, matching: Field("n") >= 45),
      case .entries(let named, _, false) = try films.changes(since: nil, keys: ["3", "7"])
    else {
      Issue.record("wrong pages")
      return
    }
    #expect(large.map(\.key) == ["45", "46", "47", "48", "49", "7", "8"])
    #expect(large.map(\.isDeleted) == [false, false, false, false, false, true, true])
    #expect(none.isEmpty)
    #expect(named.map(\.key) == ["3", "7"])
  }

  @Test("Without tracking, and with a limit of zero, the call fails")
  func refusals() async throws {
    let films = try anyStore()["films"]
    var error = #expect(throws: StoreError.self) { try films.changes(since: nil) }
    #expect(error?.code == .invalidArgument && error?[.hint]?.contains("setChangeTracking") == true)
    try await films.setChangeTracking(.on)
    error = #expect(throws: StoreError.self) { try films.changes(since: nil, limit: 0) }
    #expect(error?.code == .invalidArgument)
    let untracked = try anyStore()["films"]
    await #expect(throws: StoreError.self) {
      for try await _ in untracked.changeFeed(since: nil) {}
    }
    error = #expect(throws: StoreError.self) {
      try films.store["nano_bags"].setChangeTracking(.on)
    }
    #expect(error?.code == .invalidName)
  }

  @Test("Another feed, a dropped collection and pruned deletions are reported as a reset")
  func resets() throws {
    let store = try anyStore()
    let films = store["films"]
    try films.setChangeTracking(.on)
    try films.save(["n": 1], key: "a")
    let follower = Follower()
    try follower.catchUp(films)
    try films.setChangeTracking(.off)
    try films.setChangeTracking(.on)
    try follower.catchUp(films)
    #expect(follower.resets == [.restarted] && follower.values.count == 1)

    try films.drop()
    try films.save(["n": 2], key: "b")
    try films.setChangeTracking(.on)
    try follower.catchUp(films)
    #expect(follower.resets == [.restarted, .restarted])
    #expect(try follower.values == values(films))

    let late = Follower()
    try late.catchUp(films)
    for key in ["c", "d"] { try films.save(["n": 3], key: key) }
    for key in ["c", "d"] { try films.delete(key) }
    #expect(try films.pruneTombstones(before: .now.addingTimeInterval(60)) == 1)
    try late.catchUp(films)
    #expect(late.resets == [.pruned])
    // Readers that began after the pruning continue, page by page.
    for key in ["e", "f", "g"] { try films.save(["n": 4], key: key) }
    let new = Follower()
    try new.catchUp(films, limit: 1)
    #expect(try new.resets == [] && new.values == values(films))
  }

  @Test("A loop catches up, follows commits of other stores, and ends when the store is closed")
  func following() async throws {
    let store = try anyStore()
    let films = store["films"]
    try await films.setChangeTracking(.on)
    try await films.save(["n": 1], key: "old")
    let loop = Task {
      let follower = Follower()
      var keys: [String?] = []
      for try await event in films.changeFeed(since: nil, withDocuments: true) {
        try follower.apply(event)
        if case .entry(let entry) = event { keys.append(entry.key) }
        if keys.count < 4 { try await films.save(["n": 2], key: "new \(keys.count)") }
        if keys.count == 4 { try store.close() }
      }
      return keys
    }
    #expect(try await loop.value == ["old", "new 1", "new 2", "new 3"])
  }

  /// Turns tracking off, and on again for a new feed, in one transaction.
  private func turnOff(_ films: DocumentCollection, renews: Bool) throws {
    try films.store.write {
      try films.setChangeTracking(.off)
      if renews { try films.setChangeTracking(.on) }
    }
  }

  @Test(
    "Turning tracking off, or off and on, is a change for the store's own waiting readers",
    .timeLimit(.minutes(10)), arguments: [false, true])
  func ownTracking(renews: Bool) async throws {
    let films = try anyStore()["films"]
    try await films.setChangeTracking(.on)
    var changes = films.changes().makeAsyncIterator()
    try turnOff(films, renews: renews)
    let change = try #require(try await changes.next())
    #expect(change.rows == nil)
  }

  @Test(
    "A loop ends with an error when its own store turns tracking off, and is reset by off and on",
    .timeLimit(.minutes(10)), arguments: [false, true])
  func loopWithoutTracking(renews: Bool) async throws {
    let films = try anyStore()["films"]
    try await films.setChangeTracking(.on)
    try await films.save(["n": 1], key: "a")
    let (entries, continuation) = AsyncStream.makeStream(of: Void.self)
    let loop = Task { () async throws -> FeedReset? in
      for try await event in films.changeFeed(since: nil) {
        if case .reset(let reason) = event { return reason }
        continuation.yield()
      }
      return nil
    }
    for await _ in entries { break }

    try turnOff(films, renews: renews)

    if renews {
      #expect(try await loop.value == .restarted)
    } else {
      let error = await #expect(throws: StoreError.self) { _ = try await loop.value }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test("Canceling a loop that waits ends it")
  func canceling() async throws {
    let films = try anyStore()["films"]
    try await films.setChangeTracking(.on)
    let loop = Task { for try await _ in films.changeFeed(since: nil) {} }
    try await Task.sleep(for: .milliseconds(20))
    loop.cancel()
    await #expect(throws: CancellationError.self) { try await loop.value }
  }
}

extension FeedPage {
  /// Whether it is a page without entries.
  fileprivate var isEmpty: Bool {
    if case .entries(let entries, _, _) = self { entries.isEmpty } else { false }
  }
}
