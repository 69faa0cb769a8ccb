// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Errand: Identifiable, Equatable {
  var id = UUID()
  var title: String
}

@Model private struct Ticket: Equatable {
  @Key var number: String?
  var title: String
}

@Model private struct Bill: Equatable {
  @Key var id: Int?
  var name: String
}

/// A key that can be missing although its type is not optional.
private struct SerialNumber: RawRepresentable, ModelKey, Equatable { var rawValue: Int? }

@Model private struct Device: Equatable {
  @Key var id: SerialNumber
  var name: String
}

@Model private struct Line: Equatable { var text: String }

@Suite("Model keys")
struct ModelIdentityTests {
  @Test("The id of an Identifiable model is its key for get, save and delete")
  func identifiable() throws {
    let tasks = try anyStore()[Errand.self]
    var task = Errand(title: "Write")
    try tasks.save(task)
    task.title = "Rewrite"
    try tasks.save(task)
    #expect(try tasks.count() == 1)
    #expect(try tasks.get(task.id) == task)
    #expect(try tasks.find(\.id == task.id).fetch() == [task])
    #expect(
      try tasks.documents.get(task.id.uuidString.lowercased())?.object() == ["title": "Rewrite"])
    var read = try #require(try tasks.find().first())
    read.title = "Done"
    try tasks.save([read])
    #expect(try tasks.fetch() == [read])
    #expect(try tasks.delete(read))
    #expect(try !tasks.delete(read))
  }

  @Test("A value with a nil key can be inserted, but not saved")
  func nilKey() throws {
    let tickets = try anyStore()[Ticket.self]
    var ticket = Ticket(title: "a")
    #expect(#expect(throws: StoreError.self) { try tickets.save(ticket) }?.code == .invalidKey)
    #expect(#expect(throws: StoreError.self) { try tickets.save([ticket]) }?.code == .invalidKey)
    #expect(try tickets.count() == 0)
    ticket = try tickets.insert(ticket).value
    ticket.title = "b"
    try tickets.save(ticket)
    #expect(try tickets.fetch() == [ticket])
  }

  @Test("A value whose type of key cannot hold a UUID is not stored without a key")
  func keyNotGenerated() throws {
    let bills = try anyStore()[Bill.self]
    for insert in [
      { _ = try bills.insert(Bill(name: "x")) },
      { _ = try bills.insert([Bill(name: "x")]) },
    ] as [() throws -> Void] {
      let error = #expect(throws: StoreError.self) { try insert() }
      #expect(error?.code == .invalidKey)
    }
    let error = #expect(throws: StoreError.self) {
      _ = try bills.insert(Bill(name: "x"), key: "abc")
    }
    #expect(error?.code == .typeMismatch)
    #expect(try bills.count() == 0)
    #expect(try bills.insert(Bill(name: "x"), key: "7").id == 7)
    #expect(try bills.fetch() == [Bill(id: 7, name: "x")])
  }

  @Test("A value whose key has no raw value is not stored without a key")
  func rawKeyNotGenerated() throws {
    let devices = try anyStore()[Device.self]
    let device = Device(id: SerialNumber(rawValue: nil), name: "x")
    for insert in [
      { _ = try devices.insert(device) }, { _ = try devices.insert([device]) },
    ] as [() throws -> Void] {
      let error = #expect(throws: StoreError.self) { try insert() }
      #expect(error?.code == .invalidKey)
    }
    #expect(try devices.count() == 0)
    let numbered = Device(id: SerialNumber(rawValue: 7), name: "x")
    try devices.insert([numbered])
    #expect(try devices.fetch() == [numbered])
  }

  @Test("Documents that only have row IDs need no key of any type")
  func rowIDs() throws {
    let store = try anyStore()
    try store.createCollection("Bill", identity: .rowID)
    let bills = store[Bill.self]
    try bills.insert(Bill(name: "x"))
    try bills.insert([Bill(name: "y")])
    #expect(try bills.fetch() == [Bill(name: "x"), Bill(name: "y")])
  }

  @Test("A model without a key is saved through the stored value that was read")
  func stored() throws {
    let lines = try anyStore()[Line.self]
    try lines.insert(Line(text: "a"))
    var line = try #require(try lines.find().firstStored())
    line.text = "b"
    try lines.save(line)
    #expect(try lines.fetch() == [Line(text: "b")])
    try lines.save(Line(text: "c"), key: "c")
    try lines.save(Line(text: "d"), key: "c")
    #expect(try lines.count() == 2)
  }
}
