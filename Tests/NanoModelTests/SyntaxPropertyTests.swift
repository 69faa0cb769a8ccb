// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTesting
import Testing

/// A model with many kinds of properties, which is also Codable.
@Model struct SyntaxMany: Codable, Equatable {
  var text: String
  var int: Int
  var small: UInt8
  var flag: Bool
  var number: Double
  var single: Float
  var when: Date
  var data: Data
  @Field var id: UUID
  var price: Decimal
  var url: URL?
  var maybe: Int?
  var maybeText: String?
  var list: [Int]
  var texts: [String]
  var set: Set<Int>
  var byName: [String: Double]
  var byNumber: [Int: String]
  var suit: SyntaxSuit
  var maybeSuit: SyntaxSuit?
  var payload: SyntaxPayload
  var part: SyntaxStruct
  var model: SyntaxBoth
  var models: [SyntaxBoth]
  var holes: [Int?]
  var free: DocumentValue

  /// The names of the required fields.
  static let required = modelFields.map(\.name).filter {
    !["url", "maybe", "maybeText", "maybeSuit", "free"].contains($0)
  }
}

@Suite("Models compared with Codable on random values")
struct SyntaxPropertyTests {
  @Test(
    "A model has the same stored form as with Codable, and each reads the other's output",
    arguments: 0..<20
  )
  func sameForm(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<20 {
      let value = SyntaxMany(random: &random)
      var coded = JSONWriter()
      try DocumentEncoder().encode(value, into: &coded)
      let written = Self.bytes(value)
      #expect(try Self.read(Array(coded.bytes)) == value)
      #expect(try Self.decoded(written) == value)
      // Codable writes a set in any order.
      var one = value
      one.set = Set(one.set.prefix(1))
      coded.removeAll()
      try DocumentEncoder().encode(one, into: &coded)
      #expect(Self.same(try Self.object(Self.bytes(one)), try Self.object(Array(coded.bytes))))
    }
  }

  @Test(
    "Reordered, missing, duplicate and unknown fields are read as Codable reads them",
    arguments: 0..<20)
  func anyDocument(seed: UInt64) throws {
    var random = SplitMix(seed: seed &+ 1000)
    for _ in 0..<30 {
      let value = SyntaxMany(random: &random)
      var fields = try Self.object(Self.bytes(value)).map { ($0.name, $0.value) }
      var unknown: [String] = []
      if random.chance(0.7) { fields.shuffle(using: &random) }
      if random.chance(0.3) { fields.removeAll { _ in random.chance(0.05) } }
      if random.chance(0.3) { fields.append(fields.randomElement(using: &random)!) }
      if random.chance(0.5) {
        unknown = ["zz", "$new", "q\"", "ü"].filter { _ in random.chance(0.5) }
        for name in unknown {
          fields.insert(
            (name, ["x": [1, nil]]), at: Int.random(in: 0...fields.count, using: &random))
        }
      }
      let text = Self.text(fields, &random)

      let read = Result { try Self.read(text) }
      let isWhole = SyntaxMany.required.allSatisfy { name in fields.contains { $0.0 == name } }
      let codable = Result { try Self.decoded(text) }
      switch (read, codable) {
      case (.success(let a), .success(let b)):
        // Codable reports a missing `free` part as an error.
        #expect(a == b)
        #expect(try Set(a.unknownFields.map(\.name)) == Set(unknown))
        #expect(try Self.read(Self.bytes(a)) == a)
      case (.success, .failure(let error)):
        #expect(isWhole && !fields.contains { $0.0 == "free" }, "\(error)")
      case (.failure(let error), .failure):
        #expect(!isWhole && (error as? StoreError)?.code == .typeMismatch)
      case (.failure(let error), .success):
        Issue.record("\(error), but Codable decodes the document")
      }
    }
  }

  private static func bytes(_ value: SyntaxMany) -> [UInt8] {
    var writer = JSONWriter()
    value.write(to: &writer)
    #expect(writer.failure == nil)
    return Array(writer.bytes)
  }
  private static func read(_ bytes: [UInt8]) throws -> SyntaxMany {
    try bytes.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      return try SyntaxMany(reading: &reader)
    }
  }
  private static func decoded(_ bytes: [UInt8]) throws -> SyntaxMany {
    try bytes.withUnsafeBytes { try DocumentDecoder().decode(SyntaxMany.self, from: $0) }
  }
  private static func object(_ bytes: [UInt8]) throws -> DocumentObject {
    try bytes.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      return try reader.object()
    }
  }

  /// Returns whether both have the same fields. Codable may write fields and dictionaries in a different order.
  private static func same(_ a: DocumentObject, _ b: DocumentObject) -> Bool {
    a.count == b.count
      && a.allSatisfy { field in b[field.name].map { same(field.value, $0) } ?? false }
  }
  private static func same(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.object(let a), .object(let b)): same(a, b)
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { same($0, $1) }
    default: a == b
    }
  }

  /// Returns a document with these fields, with random white space.
  private static func text(
    _ fields: [(String, DocumentValue)], _ random: inout SplitMix
  ) -> [UInt8] {
    let isSpaced = random.chance(0.3)
    func space() -> String { isSpaced && random.chance(0.5) ? " \n" : "" }
    var text = "\(space()){\(space())"
    for (index, (name, value)) in fields.enumerated() {
      if index > 0 { text += ",\(space())" }
      var field = JSONWriter()
      field.fieldName(name)
      text += field.text + space()
      field.removeAll()
      field.value(value)
      text += field.text + space()
    }
    return Array("\(text)}".utf8)
  }
}

extension SplitMix {
  mutating func chance(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &self) < probability
  }
  mutating func int() -> Int {
    [0, 1, -1, .max, .min, Int.random(in: -1000...1000, using: &self)].randomElement(using: &self)!
  }
  mutating func text() -> String {
    let characters = ["a", "B", "\"", "\\", "$", "\n", "\u{1}", "é", "🎉", "/", " ", "\u{2028}"]
    let count = Int.random(in: 0...12, using: &self)
    return (0..<count).map { _ in characters.randomElement(using: &self)! }.joined()
  }
  mutating func number() -> Double {
    [
      0, -0.5, 1e300, .leastNonzeroMagnitude, .infinity, 0.1,
      Double.random(in: -1e6...1e6, using: &self),
    ]
    .randomElement(using: &self)!
  }
  mutating func list<Element>(_ make: (inout SplitMix) -> Element) -> [Element] {
    let count = Int.random(in: 0...3, using: &self)
    return (0..<count).map { _ in make(&self) }
  }
  mutating func maybe<Value>(_ make: (inout SplitMix) -> Value) -> Value? {
    chance(0.5) ? make(&self) : nil
  }
  mutating func date() -> Date {
    Date(timeIntervalSinceReferenceDate: Double.random(in: -3e10...2e11, using: &self))
  }
  mutating func payload() -> SyntaxPayload {
    switch Int.random(in: 0..<3, using: &self) {
    case 0: .empty
    case 1: .text(text())
    default: .pair(left: int(), right: list { $0.chance(0.5) ? .left : .right })
    }
  }
  mutating func both() -> SyntaxBoth {
    SyntaxBoth(
      text: text(), number: maybe { $0.int() },
      part: SyntaxBoth.SyntaxPart(name: text(), list: list { $0.int() }))
  }
}

extension SyntaxMany {
  init(random: inout SplitMix) {
    self.init(
      text: random.text(), int: random.int(), small: UInt8.random(in: 0...255, using: &random),
      flag: random.chance(0.5), number: random.number(), single: Float(random.number()),
      when: random.date(), data: Data(random.text().utf8), id: UUID(),
      price: Decimal(random.int()) / 100,
      url: random.maybe { _ in URL(string: "https://a.b/c?d")! },
      maybe: random.maybe { $0.int() }, maybeText: random.maybe { $0.text() },
      list: random.list { $0.int() }, texts: random.list { $0.text() },
      set: Set(random.list { $0.int() }),
      byName: Dictionary(random.list { ($0.text(), $0.number()) }) { a, _ in a },
      byNumber: Dictionary(random.list { ($0.int(), $0.text()) }) { a, _ in a },
      suit: SyntaxSuit.allCases.randomElement(using: &random)!,
      maybeSuit: random.maybe { _ in .hearts }, payload: random.payload(),
      part: SyntaxStruct(
        name: random.text(), when: random.maybe { $0.date() },
        more: random.list { SyntaxStruct(name: $0.text()) }),
      model: random.both(), models: random.list { $0.both() },
      holes: random.list { random in random.maybe { $0.int() } },
      free: random.chance(0.2) ? .null : ["a": [.int(1), .string(random.text())]])
  }
}
