// SPDX-License-Identifier: MIT

import Testing

@Suite("Type checking of queries", .enabled(if: ConsumerCompiler.isAvailable), .serialized)
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

  @Test("Saving a model without a key does not compile, and the message says what to do")
  func withoutKey() throws {
    let errors = try errors("try notes.save(note); try notes.save([note])")
    #expect(errors.count == 2 && errors.allSatisfy { $0.contains("mark a property with @Key") })
    #expect(try self.errors("try notes.insert(note); try notes.save(note, key: \"a\")") == [])
  }

  @Test(
    "Type errors in a predicate closure are reported by the compiler",
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
