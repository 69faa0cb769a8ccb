// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import Testing

@Model(collection: "coupons", expires: .field("validUntil"))
struct Coupon {
  @Key var code: String
  var validUntil: Date?
}

@Model(expires: .after(.seconds(60)))
struct ParkingTicket {
  @Key var id: Int
}

@Model(expires: .field("misspelled"))
struct Misspelled {
  var at: Date?
}

/// The code of docs/EXPIRY.md.
@Suite("Code of the page about expiration")
struct ExpirySnippets {
  @Test("Single documents")
  func single() async throws {
    let store = try Store(.memory)
    let sessions = store["sessions"]
    try await sessions.save(["user": "ada"], key: "s1")
    try await sessions.setExpiration(.now.addingTimeInterval(3_600), of: "s1")  // in an hour
    let date = try await sessions.expiration(of: "s1")
    try await sessions.setExpiration(nil, of: "s1")  // never

    #expect(try #require(date) > .now.addingTimeInterval(3_500))
    #expect(try await sessions.expiration(of: "s1") == nil)
    try await sessions.setExpiration(.now, of: "s1")
    #expect(try await sessions.get("s1") == nil)
    #expect(try await store.deleteExpired() <= 1)
  }

  @Test("Rules")
  func rules() async throws {
    let store = try Store(.memory)
    let (sessions, coupons, logs) = (store["sessions"], store["coupons"], store["logs"])
    try await sessions.setExpirationRule(.after(.seconds(3_600)))  // an hour after the last write
    try await coupons.setExpirationRule(.field("validUntil"))  // at the date in a field
    try await logs.setExpirationRule(.field("at", after: .seconds(86_400)))  // one day later

    try await logs.save(["at": .date(.now.addingTimeInterval(-90_000))], key: "old")
    #expect(try await logs.get("old") == nil)
  }

  @Test("Models apply their rule, and refuse one with a field that they do not have")
  func models() async throws {
    let store = try Store(.memory)
    let coupons = store[Coupon.self]
    try await coupons.save(Coupon(code: "a", validUntil: .now.addingTimeInterval(-1)))
    try await coupons.save(Coupon(code: "b", validUntil: .now.addingTimeInterval(100)))
    try await coupons.save(Coupon(code: "c", validUntil: nil))
    #expect(try await coupons.find().fetch().map(\.code) == ["b", "c"])
    #expect(try await coupons.get("a") == nil)
    #expect(try await coupons.expiration(of: "b") != nil)

    try await store[ParkingTicket.self].save(ParkingTicket(id: 7))
    #expect(try #require(try await store[ParkingTicket.self].expiration(of: 7)) > .now)
    #expect(try await store[ParkingTicket.self].setExpiration(.now, of: 7))
    #expect(try await store[ParkingTicket.self].get(7) == nil)
    #expect(Misspelled.expirationRule == .field("misspelled"))
    await #expect { try await store[Misspelled.self].insert(Misspelled(at: .now)) } throws: {
      ($0 as? StoreError)?.code == .invalidArgument
    }
  }
}
