// SPDX-License-Identifier: MIT

import Testing

@Suite("Types in queries", .enabled(if: ConsumerCompiler.isAvailable), .serialized)
struct TypedQueryTests {
  private func errors(_ body: String) throws -> [String] {
    try ConsumerCompiler.check(
      """
      import Foundation
      import NanoStoreModels
      @Model struct Order { @Key var id: String; var cost: Decimal; var n: Int; var maybe: Decimal? }
      @Model struct Note { var text: String }
      func use(_ orders: ModelCollection<Order>, _ notes: ModelCollection<Note>, _ note: Note) throws {
        \(body)
      }
      """
    ).messages.filter { $0.contains("error: ") }
  }

  @Test(
    "A Decimal is not added up or compared by size",
    arguments: [
      "_ = try orders.find().sum(\\.cost)", "_ = try orders.find().average(\\.maybe)",
      "_ = try orders.find().max(\\.cost)",
      "_ = try orders.find().aggregate(.sum(\\.cost), .count)",
      "_ = orders.find(\\.cost > 3)", "_ = orders.find { $0.cost < 3 }",
    ])
  func decimals(call: String) throws {
    let errors = try errors(call)
    #expect(errors.count == 1 && errors[0].contains("Decimal"))
  }

  @Test("A model without a key is not saved, and the message says what to do")
  func withoutKey() throws {
    let errors = try errors("try notes.save(note); try notes.save([note])")
    #expect(errors.count == 2 && errors.allSatisfy { $0.contains("mark a property with @Key") })
    #expect(try self.errors("try notes.insert(note); try notes.save(note, key: \"a\")") == [])
  }

  @Test(
    "What does not fit together in a closure is said by the compiler",
    arguments: [
      ("$0.n == \"a\"", "'ModelPath<Order, Int>' and 'String'"),
      ("$0.n == 3 && $0.id == 5", "'ModelPath<Order, String>' and 'Int'"),
      ("$0.nn == 3", "no dynamic member 'nn'"),
    ])
  func closures(condition: String, message: String) throws {
    for call in ["orders.find", "orders.find().where"] {
      let errors = try errors("_ = \(call) { \(condition) }")
      #expect(errors.count == 1 && errors[0].contains(message))
    }
  }
}
