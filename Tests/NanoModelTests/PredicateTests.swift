// SPDX-License-Identifier: MIT

import Foundation
import NanoQuery
import NanoStoreModels
import NanoTestSupport
import Testing

@testable import NanoModel

@Suite("Foundation predicates on models")
struct PredicateTests {
  /// Documents in a store, with the values decoded from them.
  struct Fixture: Sendable {
    let store: Store
    let documents: [(key: String, fields: DocumentObject)]
    let values: [Traveler]

    init(hasFormerNames: Bool) throws {
      store = try anyStore()
      var generator = TravelerGenerator(
        seed: hasFormerNames ? 7 : 11, hasFormerNames: hasFormerNames)
      documents = (0..<160).map { ("t\($0)", generator.document()) }
      for document in documents {
        try store[Traveler.collectionName].save(document.fields, key: document.key)
      }
      values = try store[Traveler.self].fetch()
    }

    /// Returns the keys of the values for which Foundation evaluates the predicate to true.
    func evaluated(_ predicate: Predicate<Traveler>) -> [String] {
      values.filter { (try? predicate.evaluate($0)) ?? false }.map(\.id)
    }
  }

  static let withFormerNames = Result { try Fixture(hasFormerNames: true) }
  static let withoutFormerNames = Result { try Fixture(hasFormerNames: false) }

  @Test(
    "A predicate matches the values for which Foundation evaluates it to true",
    arguments: PredicateForms.translated)
  func finds(form: PredicateForm) throws {
    let condition = ModelCondition(form.predicate)
    #expect(condition.failure == nil)
    for (fixture, condition) in [
      (try Self.withFormerNames.get(), condition),
      (try Self.withoutFormerNames.get(), ModelCondition(condition.condition)),
      (try Self.withoutFormerNames.get(), condition),
    ] {
      let expected = fixture.evaluated(form.predicate)
      let query = try fixture.store[Traveler.self].find(condition).documentQuery()
      let predicate = query.query.condition
      #expect(try query.keys() == expected, "\(predicate)")
      let defined = try fixture.documents.filter { document in
        try Evaluator(DocumentSubject(document.fields, key: .string(document.key))).holds(predicate)
      }
      #expect(defined.map(\.key) == expected, "\(predicate)")
    }
  }

  @Test("Nearly every form is true for some values and false for others")
  func formsAreSelective() throws {
    let fixture = try Self.withFormerNames.get()
    let plain = PredicateForms.translated.filter {
      [0, fixture.values.count].contains(fixture.evaluated($0.predicate).count)
    }
    #expect(
      Set(plain.map(\.name)) == [
        "no key", "constant", "one of no values", "contains nothing", "the key and a property",
        "list contains a key",
      ])
  }
}

@Suite("Unsupported predicates, and indexes")
struct PredicateLimitsTests {
  private let store: Store
  private var travelers: ModelCollection<Traveler> { store[Traveler.self] }
  init() throws { store = try anyStore() }

  private func failure(_ predicate: Predicate<Traveler>) -> StoreError? {
    let error = error { _ = try travelers.find(ModelCondition(predicate)).fetch() }
    #expect(error == ModelCondition(predicate).failure)
    #expect(error?.code == .unsupported)
    #expect(error?.message == "A part of the predicate cannot be translated")
    #expect(
      error?[.hint] == "query with a broader condition, and evaluate the predicate on the results")
    return error
  }

  @Test("An unsupported predicate is an error with operator and field when the query runs")
  func untranslatable() {
    func expect(
      _ operation: String, _ field: String?, _ predicate: Predicate<Traveler>,
      _ location: SourceLocation = #_sourceLocation
    ) {
      let error = failure(predicate)
      #expect(error?[.operation] == operation, sourceLocation: location)
      #expect(error?[.field] == field, sourceLocation: location)
    }
    let (grid, shapes) = ([[1]], Set(["x"]))
    let price = Decimal(1)
    expect("KeyPath", "lastName", #Predicate { $0.lastName.count == 3 })
    expect("KeyPath", "tags", #Predicate { $0.tags.last == "x" })
    expect("KeyPath", "grid", #Predicate { $0.grid.count == 3 })
    expect("Equal", "grid", #Predicate { $0.grid == grid })
    expect("Equal", "words", #Predicate { $0.words == shapes })
    expect("Equal", "tags", #Predicate { $0.tags == $0.tags })
    expect("Comparison", "scores", #Predicate { $0.scores.filter { $0 > 1 }.count > 1 })
    expect("Arithmetic", "height", #Predicate { $0.height + 1 > 2 })
    expect("Arithmetic", "price", #Predicate { $0.price + 1 == price })
    expect("CollectionContainsCollection", "tags", #Predicate { $0.tags.contains(["x"]) })
    expect("SequenceStartsWith", "scores", #Predicate { $0.scores.starts(with: [1]) })
    expect("SequenceContains", "grid", #Predicate { $0.grid.contains([1]) })
    expect("SequenceContainsWhere", "grid", #Predicate { $0.grid.contains { $0.isEmpty } })
    expect("SequenceContainsWhere", "marks", #Predicate { $0.marks.contains { $0! > 3 } })
    expect("CollectionIndexSubscript", "scores", #Predicate { $0.scores[$0.age] == 3 })
    expect("CollectionRangeSubscript", "scores", #Predicate { $0.scores[0..<2].isEmpty })
    expect("Equal", "counts", #Predicate { $0.counts == $0.counts })
    expect(
      "KeyPath", "age",
      #Predicate { traveler in traveler.scores.contains { $0 == traveler.age } })
    expect(
      "Variable", "nickname",
      #Predicate { traveler in
        if let name = traveler.nickname { traveler.tags.contains { $0 == name } } else { false }
      })
    expect(
      "Variable", "rank",
      #Predicate { traveler in
        if let rank = traveler.rank { traveler.scores.allSatisfy { $0 <= rank } } else { true }
      })
    expect(
      "SequenceContains", "scores", #Predicate { $0.scores.filter { $0 > 2 }.contains($0.age) })
  }

  @Test("The extremes of a list with NaN are those of its numbers")
  func extremesWithNaN() throws {
    try travelers.insert(Traveler(id: "a", lastName: "Doe", ratios: [5, .nan]))
    try travelers.insert(Traveler(id: "b", lastName: "Doe", ratios: [.nan]))
    try travelers.insert(Traveler(id: "c", lastName: "Doe", ratios: [1]))
    func keys(_ predicate: Predicate<Traveler>) throws -> [String] {
      try travelers.find(ModelCondition(predicate)).keys()
    }
    #expect(try keys(#Predicate { $0.ratios.min() == 5.0 }) == ["a"])
    #expect(try keys(#Predicate { $0.ratios.min()! < 3.0 }) == ["c"])
    #expect(try keys(#Predicate { $0.ratios.min()! >= 3.0 }) == ["a"])
    #expect(try keys(#Predicate { !($0.ratios.min()! < 3.0) }) == ["a", "b"])
    #expect(try keys(#Predicate { $0.ratios.max()! < 7.0 }) == ["a", "c"])
  }

  @Test("A subexpression that fails for a value matches neither the predicate nor its negation")
  func failing() throws {
    try travelers.insert(Traveler(id: "a", lastName: "Doe", age: 0, rank: nil))
    try travelers.insert(Traveler(id: "b", lastName: "Doe", age: 2, rank: 9))
    try travelers.insert(Traveler(id: "c", lastName: "Doe", age: .max, rank: 1, small: 100))
    func keys(_ predicate: Predicate<Traveler>) throws -> [String] {
      try travelers.find(ModelCondition(predicate)).keys()
    }
    #expect(try keys(#Predicate { $0.rank! != 9 }) == ["c"])
    #expect(try keys(#Predicate { !($0.rank! != 9) }) == ["b"])
    #expect(try keys(#Predicate { 10 / $0.age == 5 }) == ["b"])
    #expect(try keys(#Predicate { 10 / $0.age != 5 }) == ["c"])
    #expect(try keys(#Predicate { $0.age + 1 > 0 }) == ["a", "b"])
    #expect(try keys(#Predicate { $0.small + 100 != 7 }) == ["a", "b"])
    #expect(try keys(#Predicate { $0.age != 0 && 10 / $0.age != 5 }) == ["c"])
    #expect(try keys(#Predicate { (5...$0.age).contains(7) }) == ["c"])
    #expect(try keys(#Predicate { !(5...$0.age).contains(7) }) == [])
    #expect(try keys(#Predicate { $0.rank == nil || $0.rank! > 3 }) == ["a", "b"])
  }

  @Test("Casts to the type of a property, or unwrapping it, are supported; other casts are not")
  func casts() throws {
    typealias Rank = PredicateExpressions.KeyPath<PredicateExpressions.Variable<Traveler>, Int?>
    try travelers.insert(Traveler(id: "a", lastName: "Doe", rank: nil))
    try travelers.insert(Traveler(id: "b", lastName: "Doe", rank: 9))
    func rank(_ variable: PredicateExpressions.Variable<Traveler>) -> Rank {
      PredicateExpressions.build_KeyPath(
        root: PredicateExpressions.build_Arg(variable), keyPath: \.rank)
    }
    let conditional = Predicate<Traveler> {
      PredicateExpressions.build_Equal(
        lhs: PredicateExpressions.ConditionalCast<Rank, Int>(rank($0)),
        rhs: PredicateExpressions.build_Arg(9 as Int?))
    }
    #expect(try travelers.find(ModelCondition(conditional)).keys() == ["b"])
    let check = Predicate<Traveler> { PredicateExpressions.TypeCheck<Rank, Int>(rank($0)) }
    #expect(try travelers.find(ModelCondition(check)).keys() == ["b"])
    let other = Predicate<Traveler> { PredicateExpressions.TypeCheck<Rank, String>(rank($0)) }
    #expect(failure(other)?[.operation] == "TypeCheck")
  }

  @Test("Equality, ranges and prefixes on indexed fields use the index", .sqlite)
  func indexes() throws {
    for number in 0..<50 {
      try travelers.insert(Traveler(id: "t\(number)", lastName: "D\(number)", age: number))
    }
    try travelers.documents.createIndex("age")
    func explained(_ predicate: Predicate<Traveler>) throws -> Explanation {
      try travelers.find(ModelCondition(predicate)).explain()
    }
    let both = try explained(#Predicate { $0.lastName == "D7" && $0.age > 3 })
    #expect(!both.indexes.isEmpty && both.checkedPerDocument == nil)
    let key = try explained(#Predicate { $0.id == "t7" })
    #expect(key.plan.contains { $0.contains("nano_key") } && key.checkedPerDocument == nil)
    for predicate in [
      #Predicate<Traveler> { (3...5).contains($0.age) },
      #Predicate<Traveler> { $0.lastName.starts(with: "D4") },
      #Predicate<Traveler> { ["D1", "D2"].contains($0.lastName) },
      #Predicate<Traveler> { $0.age == 3 },
      #Predicate<Traveler> { $0.lastName == "D1" || $0.lastName == "D2" },
    ] {
      let explanation = try explained(predicate)
      #expect(!explanation.indexes.isEmpty, "\(explanation)")
      #expect(explanation.checkedPerDocument == nil, "\(explanation)")
    }
  }
}

/// Returns the ``StoreError`` that the closure throws, or nil if it throws none.
private func error(_ work: () throws -> Void) -> StoreError? {
  do { try work() } catch { return error as? StoreError }
  return nil
}
