// SPDX-License-Identifier: MIT

import Testing

/// Compiler diagnostics for calls written for the other kind of function.
@Suite(
  "Diagnostics about await", .enabled(if: ConsumerCompiler.isAvailable), .serialized)
struct CallDiagnosticsTests {
  private static let declarations = """
    import NanoStoreModels

    @Model struct Film {
      @Key var id: String
      var year: Int
    }
    @Model final class Reel {
      var title: String
      init(_ title: String) { self.title = title }
    }
    nonisolated final class Album: Codable { var title = "" }

    """

  private func messages(_ program: String) throws -> [String] {
    try ConsumerCompiler.check(Self.declarations + program).messages
  }

  private func expect(
    _ message: String, _ program: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let messages = try messages(program)
    #expect(
      !messages.isEmpty && messages.allSatisfy { $0.contains(message) }, "\(messages)",
      sourceLocation: sourceLocation)
  }

  @Test(
    "Omitting await in an async function is an error that says so",
    arguments: [
      "try films.count()", "try films.fetch()", "try films.upgrade { print($0) }",
      "try films.find().update([.set(\\.year, 3)])", "try store.sql(\"SELECT ?\", 5)",
      "try store.write { try films.deleteAll() }", "try reels.fetch()",
      "try films.documents.find().each(as: Album.self) { print($0.title) }",
      "try films.documents.find().decoded(as: Album.self)",
    ])
  func missingAwait(call: String) throws {
    try expect(
      "expression is 'async' but is not marked with 'await'",
      """
      func run(
        _ store: Store, _ films: ModelCollection<Film>, _ reels: ModelCollection<Reel>
      ) async throws { _ = \(call) }
      """)
  }

  @Test("Using await in a synchronous function is an error that says so")
  func awaitInSynchronousFunction() throws {
    try expect(
      "'await' in a function that does not support concurrency",
      "func run(_ films: ModelCollection<Film>) throws { print(try await films.count()) }")
  }

  @Test("Using await inside a transaction is an error that says so")
  func awaitInTransaction() throws {
    try expect(
      "to parameter expecting synchronous function type",
      """
      func run(_ store: Store, _ films: ModelCollection<Film>) async throws {
        try await store.write { try await films.deleteAll() }
      }
      """)
  }

  @Test(
    "Mutating a captured variable in an awaited transaction is an error; mutating one inside blocking is not"
  )
  func capturedVariable() throws {
    func program(_ call: String) -> String {
      """
      func run(_ store: Store, _ films: ModelCollection<Film>) async throws -> Int {
        var count = 0
        \(call) { count += try films.count() }
        return count
      }
      """
    }

    try expect(
      "mutation of captured var 'count' in concurrently-executing code",
      program("try await store.write"))
    #expect(try messages(program("try store.blocking")) == [])
  }

  @Test("A non-Sendable value is sent, and using it afterward is an error")
  func sentValue() throws {
    #expect(
      try messages(
        """
        func run(_ reels: ModelCollection<Reel>) async throws {
          try await reels.insert(Reel("A"))
          for reel in try await reels.fetch() { reel.title = "B" }
        }
        """) == [])
    try expect(
      "sending 'reel' risks causing data races",
      """
      func run(_ reels: ModelCollection<Reel>, _ reel: Reel) async throws {
        try await reels.insert(reel)
      }
      """)
  }

  @Test("Values isolated to the main actor or an actor can be stored inside blocking")
  func isolatedValues() throws {
    #expect(
      try messages(
        """
        @MainActor final class Editor {
          var reel = Reel("A")
          func save(_ store: Store) async throws {
            try store.blocking { try store[Reel.self].insert(reel) }
            reel = try await store[Reel.self].find().first() ?? reel
          }
        }
        actor Archive {
          var reels: [Reel] = []
          func save(_ store: Store) async throws -> Int {
            try store.blocking {
              try store.write { try store[Reel.self].insert(reels) }
              return try store[Reel.self].count()
            }
          }
        }
        """) == [])
  }

  @Test("Live results belong to an actor, and creating them elsewhere is an error")
  func liveResults() throws {
    func program(_ function: String) -> String {
      "\(function)(_ films: DocumentCollection) { print(LiveResults(films.find()).count) }"
    }
    #expect(try messages(program("@MainActor func run")) == [])
    #expect(!(try messages(program("func run")).isEmpty))
    try expect(
      "risks causing data races",
      """
      func run(_ results: LiveResults<Document>) {
        Task.detached { print(results.count) }
      }
      """)
  }

  @Test("A closure passed to Task uses the async form only if it contains await")
  func tasks() throws {
    // The compiler infers a closure without `await` as synchronous; the article says so.
    #expect(
      try messages(
        """
        func run(_ films: ModelCollection<Film>) {
          Task { try films.count() }
          Task { try await films.count() }
        }
        """) == [])
  }
}
