// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

/// Conditions on models, compared with the same expressions in Swift.
@Suite("Conditions on properties")
struct ModelConditionTests {
  typealias Person = V3.Person

  /// A condition and the equivalent Swift expression.
  struct Pair: Sendable {
    let text: String
    let condition: ModelCondition<Person>
    let holds: @Sendable (Person) -> Bool
  }

  @Test("A condition matches the values for which the same Swift expression is true")
  func sameAsSwift() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    for _ in 0..<12 {
      let store = try anyStore()
      for number in 0..<25 { try write(number, store, &random) }
      let people = store[Person.self]
      let all = try people.fetch()
      #expect(all.count == 25)
      for _ in 0..<40 {
        let pair = self.pair(depth: 2, &random)
        let found = try people.find(pair.condition).fetch()
        #expect(found == all.filter(pair.holds), "\(pair.text), seed \(seed)")
        let sorted = try people.find(pair.condition)
          .sorted(using: .reverse(\.points), .forward(\.fullName)).limit(5, offset: 1).fetch()
        #expect(
          sorted.map(\.points)
            == all.filter(pair.holds).sorted { $0.points > $1.points }.dropFirst().prefix(5)
            .map(\.points), "\(pair.text), sorted, seed \(seed)")
      }
    }
  }

  /// Writes a document of one of three program versions, so that fields are missing or have former names.
  private func write(_ number: Int, _ store: Store, _ random: inout SplitMix) throws {
    let name = name(&random)
    let age = Int(random.next() % 5)
    let points = Int(random.next() % 14) - 2
    switch random.next() % 3 {
    case 0:
      try store[V1.Person.self].insert(
        V1.Person(
          id: "\(number)", name: name, age: Int8(age),
          city: random.next() % 2 == 0 ? nil : "Rome"))
    case 1:
      try store[V2.Person.self].insert(
        V2.Person(id: "\(number)", name: name, age: Int8(age), emails: ["a"], points: points))
    default:
      try store[V3.Person.self].insert(
        V3.Person(
          id: "\(number)", fullName: name, age: Double(age) + 0.5,
          emails: ["a", "b"].filter { _ in random.next() % 2 == 0 }, points: points,
          city: ["Rome", "Oslo"].filter { _ in random.next() % 2 == 0 }))
    }
  }

  private func name(_ random: inout SplitMix) -> String {
    ["Ada", "Bob", "Bea", "", "Zoë"][Int(random.next() % 5)]
  }

  private func pair(depth: Int, _ random: inout SplitMix) -> Pair {
    guard depth > 0, random.next() % 4 != 0 else { return leaf(&random) }
    let a = pair(depth: depth - 1, &random)
    switch random.next() % 3 {
    case 0:
      let b = pair(depth: depth - 1, &random)
      return Pair(text: "(\(a.text) && \(b.text))", condition: a.condition && b.condition) {
        a.holds($0) && b.holds($0)
      }
    case 1:
      let b = pair(depth: depth - 1, &random)
      return Pair(text: "(\(a.text) || \(b.text))", condition: a.condition || b.condition) {
        a.holds($0) || b.holds($0)
      }
    default:
      return Pair(text: "!\(a.text)", condition: !a.condition) { !a.holds($0) }
    }
  }

  private func leaf(_ random: inout SplitMix) -> Pair {
    let name = name(&random)
    let points = Int(random.next() % 14) - 2
    let age = Double(random.next() % 10) / 2
    let path = ModelProperties<Person>()
    switch random.next() % 15 {
    case 0:
      return Pair(text: "name == \(name)", condition: \.fullName == name) { $0.fullName == name }
    case 1:
      return Pair(text: "name != \(name)", condition: \.fullName != name) { $0.fullName != name }
    case 2: return Pair(text: "name > \(name)", condition: \.fullName > name) { $0.fullName > name }
    case 3:
      return Pair(text: "points == \(points)", condition: \.points == points) {
        $0.points == points
      }
    case 4:
      return Pair(text: "points <= \(points)", condition: \.points <= points) {
        $0.points <= points
      }
    case 5:
      return Pair(text: "points != \(points)", condition: \.points != points) {
        $0.points != points
      }
    case 6: return Pair(text: "age < \(age)", condition: \.age < age) { $0.age < age }
    case 7: return Pair(text: "age >= \(age)", condition: \.age >= age) { $0.age >= age }
    case 8:
      return Pair(text: "name begins with B", condition: path.fullName.hasPrefix("B")) {
        $0.fullName.hasPrefix("B")
      }
    case 9:
      return Pair(text: "name in", condition: path.fullName.isIn(["Ada", ""])) {
        ["Ada", ""].contains($0.fullName)
      }
    case 10:
      return Pair(text: "points between", condition: path.points.isBetween(0, and: points)) {
        $0.points >= 0 && $0.points <= points
      }
    case 11:
      return Pair(text: "city has Rome", condition: path.city.contains("Rome")) {
        $0.city.contains("Rome")
      }
    case 12:
      return Pair(text: "emails empty", condition: path.emails.isEmpty) { $0.emails.isEmpty }
    case 13:
      return Pair(text: "city empty", condition: path.city.isEmpty) { $0.city.isEmpty }
    default:
      let id = "\(random.next() % 25)"
      return Pair(text: "id == \(id)", condition: \.id == id) { $0.id == id }
    }
  }

  @Test("LIMIT and OFFSET in a text limit the results, also those of a deletion")
  func limitInText() throws {
    let people = try anyStore()[Person.self]
    for number in 0..<5 {
      try people.insert(Person(id: "\(number)", fullName: "n", age: 1, points: number))
    }
    let found = try people.find("[points] >= ? LIMIT 2 OFFSET 1", 1).sorted(by: \.points).fetch()
    #expect(found.map(\.points) == [2, 3])

    #expect(try people.find("[points] >= 0 LIMIT 2").delete() == 2)
    #expect(try people.count() == 3)
  }

  @Test("A condition on a property that is not stored is an error that names it")
  func notStored() throws {
    let people = try anyStore()[Computed.self]
    let error = #expect(throws: StoreError.self) { _ = try people.find(\.double == 2).fetch() }
    #expect(error?.code == .invalidArgument)
    #expect(error?[.collection] == "Computed")
    #expect(throws: StoreError.self) { _ = try people.find().sorted(by: \.double).fetch() }
    #expect(throws: StoreError.self) { _ = try people.find().select(\.double) }
  }

  @Test("Equality with an indexed property uses the index, also with a default or a former name")
  func usesIndex() throws {
    let store = try anyStore()
    let people = store[Person.self]
    for number in 0..<200 {
      try people.insert(Person(id: "\(number)", fullName: "n\(number)", age: 1, points: number))
    }
    #expect(try !people.find(\.fullName == "n7").explain().indexes.isEmpty)
    #expect(try !people.find(\.points == 7).explain().indexes.isEmpty)
    #expect(try !people.find(\.points > 190).explain().indexes.isEmpty)
    #expect(try !people.find().sorted(by: \.points).limit(3).explain().indexes.isEmpty)
  }
}

@Model private struct Computed {
  var value: Int
  var double: Int { value * 2 }
}
