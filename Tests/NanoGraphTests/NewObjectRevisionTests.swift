// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model(expires: .field("validUntil")) final class Voucher {
  @Unique var code: String?
  var validUntil: Date
  var discount = 0

  init(_ code: String, validUntil: Date) {
    self.code = code
    self.validUntil = validUntil
  }
}

@Model final class Ticket {
  @Unique var code: String?
  var price: Decimal?

  init(_ code: String) { self.code = code }
}

@MainActor
@Suite("Revisions of new objects")
struct NewObjectRevisionTests {
  private let context: ObjectContext

  init() throws { context = ObjectContext(try anyStore()) }

  private func saveNow() throws { try context.save() }

  private func save(isAsync: Bool) async throws {
    if isAsync { try await context.save() } else { try saveNow() }
  }

  @Test(
    "An object that was saved with one that has expired can be changed and saved again",
    arguments: [false, true])
  func expired(isAsync: Bool) async throws {
    let voucher = Voucher("B", validUntil: .distantFuture)
    try context.insert(Voucher("A", validUntil: Date(timeIntervalSince1970: 0)))
    try context.insert(voucher)
    try await save(isAsync: isAsync)

    voucher.discount = 5
    try await save(isAsync: isAsync)

    #expect(try await ObjectContext(context.store).all(Voucher.self).map(\.discount) == [5])
  }

  @Test(
    "An object that was saved while others exchanged unique values can be changed and saved again",
    arguments: [false, true])
  func exchanged(isAsync: Bool) async throws {
    let (first, second, third) = (Ticket("a"), Ticket("b"), Ticket("c"))
    try context.insert(first)
    try context.insert(second)
    try await save(isAsync: isAsync)
    (first.code, second.code) = ("b", "a")
    // The first decimal of the class is written in a savepoint, which fails because of the code.
    first.price = 12.5
    try context.insert(third)
    try await save(isAsync: isAsync)

    third.code = "d"
    try await save(isAsync: isAsync)

    #expect(try await ObjectContext(context.store).all(Ticket.self).map(\.code) == ["b", "a", "d"])
  }
}
