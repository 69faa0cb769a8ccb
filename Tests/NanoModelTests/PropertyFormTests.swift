// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

private struct Remark: Codable, Equatable { var text: String }

/// Sequences that are stored in their `Codable` form.
@Model private struct Chapter {
  @Key var id: String
  var pages: Range<Int>
  var lines: ClosedRange<Int>? = nil
  var parts: [Range<Int>] = []
  var marks: IndexSet = IndexSet()
  var remarks: [String: Remark] = [:]
}

private enum CardColor: String { case red, black }

@Model private struct Deal {
  @Key var id: String
  var named: [String: CardColor] = ["x": .black]
  var others: [String: CardColor] = [:]
}

@Model private struct Slip {
  var remarks: [Remark] = []
}

@Model private struct Crate {
  @Key var id: String
  var slips: [Slip] = []
}

@Model private struct Amplifier {
  @Key var id: String
  var gain: Float
  var bias: Float?
}

/// A change and a query use the form in which a document stores the property.
@Suite("Stored forms of property values")
struct PropertyFormTests {
  private let store: Store
  init() throws { store = try anyStore() }

  @Test("A change stores a sequence that is not a list in the form of its Codable conformance")
  func codableSequences() throws {
    let chapters = store[Chapter.self]
    try chapters.insert([
      Chapter(
        id: "inserted", pages: 5..<8, lines: 1...4, parts: [0..<2, 5..<8], marks: IndexSet([3, 9])),
      Chapter(id: "changed", pages: 0..<1, remarks: ["a": Remark(text: "b")]),
    ])

    try chapters.find(\.id == "changed").update(
      .set(\.pages, 5..<8), .set(\.lines, 1...4), .append(\.parts, 0..<2, 7..<9, 5..<8),
      .pull(\.parts, 7..<9), .set(\.marks, IndexSet([3, 9])), .set(\.remarks, [:]))

    let changed = try #require(try chapters.get("changed"))
    #expect(changed.pages == 5..<8 && changed.lines == 1...4)
    #expect(changed.parts == [0..<2, 5..<8] && changed.marks == IndexSet([3, 9]))
    #expect(changed.remarks == [:])
    let objects = try ["inserted", "changed"].map { try chapters.documents.get($0)?.object() }
    for name in ["pages", "lines", "parts", "marks", "remarks"] {
      #expect(objects[0]?[name] != nil && objects[0]?[name] == objects[1]?[name], "\(name)")
    }
  }

  @Test("A dictionary of raw values can be selected and set, and its entries match conditions")
  func rawDictionaries() throws {
    let deals = store[Deal.self]
    try deals.insert([Deal(id: "a"), Deal(id: "b")])

    try deals.update("b", .set(\.named, ["x": .red]), .set(\.others, ["y": .black]))

    #expect(
      try deals.find().sorted(by: \.id).select(\.named) == [["x": .black], ["x": .red]])
    #expect(try deals.find { $0.named["x"] == CardColor.red }.keys() == ["b"])
    #expect(try deals.find { $0.others["y"] == CardColor.black }.keys() == ["b"])
  }

  @Test("A default that is a dictionary of raw values has its entries in conditions and results")
  func rawDictionaryDefaults() throws {
    let deals = store[Deal.self]
    try deals.documents.insert(DocumentObject(), key: "missing")

    #expect(try deals.find { $0.named["x"] == CardColor.black }.keys() == ["missing"])
    #expect(try deals.find().select(\.named) == [["x": .black]])
    #expect(try deals.find().select(\.others) == [[:]])
  }

  @Test("A list of Codable values inside a list can be tested for emptiness")
  func emptyListsInLists() throws {
    let crates = store[Crate.self]
    try crates.insert([
      Crate(id: "empty", slips: [Slip(remarks: [])]),
      Crate(id: "full", slips: [Slip(remarks: [Remark(text: "a")])]),
    ])

    #expect(try crates.find { $0.slips.remarks.isEmpty }.keys() == ["empty"])
  }

  @Test("The result of an operator on a Float is rounded to a Float, as in Swift")
  func floats() throws {
    let amplifiers = store[Amplifier.self]
    try amplifiers.insert(Amplifier(id: "a", gain: 0.1))

    let sum = try amplifiers.update("a", .increment(\.gain, by: 0.2), .increment(\.bias, by: 0.3))

    let expected: Float = 0.1 + 0.2
    #expect(sum.value.gain == expected && sum.value.bias == 0.3)
    #expect(try amplifiers.find(\.gain == expected).keys() == ["a"])

    try amplifiers.find().update(.set(\.gain, 1e30), .multiply(\.gain, by: 1e30))
    #expect(try amplifiers.get("a")?.gain == .infinity)
  }
}
