// SPDX-License-Identifier: MIT

import Foundation
import NanoQuery
import NanoStoreModels
import NanoTestSupport
import Testing

@testable import NanoModel

@Suite("Predicates of Foundation on models")
struct PredicateTests {
  /// Documents in a store, and the values that are read from them.
  struct Kept: Sendable {
    let store: Store
    let documents: [(key: String, fields: DocumentObject)]
    let values: [Traveller]
    var collection: DocumentCollection { store[Traveller.collectionName] }

    init(hasFormerNames: Bool) throws {
      store = try anyStore()
      var generator = TravellerGenerator(
        seed: hasFormerNames ? 7 : 11, hasFormerNames: hasFormerNames)
      documents = (0..<160).map { ("t\($0)", generator.document()) }
      for document in documents {
        try store[Traveller.collectionName].save(document.fields, key: document.key)
      }
      values = try store[Traveller.self].fetch()
    }

    /// The keys of the values for which a predicate is true.
    func evaluated(_ predicate: Predicate<Traveller>) -> [String] {
      values.filter { (try? predicate.evaluate($0)) ?? false }.map(\.id)
    }
  }

  static let withFormerNames = Result { try Kept(hasFormerNames: true) }
  static let withoutFormerNames = Result { try Kept(hasFormerNames: false) }

  @Test("A predicate finds what it is true for", arguments: PredicateForms.translated)
  func finds(form: PredicateForm) throws {
    let condition = ModelCondition(form.predicate)
    #expect(condition.failure == nil)
    for (kept, asked) in [
      (try Self.withFormerNames.get(), condition.condition),
      (try Self.withoutFormerNames.get(), condition.condition),
      (try Self.withoutFormerNames.get(), condition.current),
    ] {
      let expected = kept.evaluated(form.predicate)
      #expect(try kept.collection.find(asked).keys() == expected, "\(asked)")
      let defined = try kept.documents.filter { document in
        try Evaluator(DocumentSubject(document.fields, key: .string(document.key))).holds(asked)
      }
      #expect(defined.map(\.key) == expected, "\(asked)")
    }
  }

  @Test("Nearly every form is true for some values and false for others")
  func formsTellValuesApart() throws {
    let kept = try Self.withFormerNames.get()
    let plain = PredicateForms.translated.filter {
      [0, kept.values.count].contains(kept.evaluated($0.predicate).count)
    }
    #expect(
      Set(plain.map(\.name)) == [
        "no key", "constant", "one of no values", "contains nothing", "the key and a property",
        "list contains a key",
      ])
  }
}

@Suite("Predicates that have no counterpart, and indexes")
struct PredicateLimitsTests {
  private let store: Store
  private var travellers: ModelCollection<Traveller> { store[Traveller.self] }
  init() throws { store = try anyStore() }

  private func failure(_ predicate: Predicate<Traveller>) -> StoreError? {
    let error = error { _ = try travellers.find(ModelCondition(predicate)).fetch() }
    #expect(error == ModelCondition(predicate).failure)
    #expect(error?.code == .unsupported)
    #expect(error?.message == "A part of the predicate cannot be translated")
    #expect(
      error?[.hint] == "query with a broader condition, and evaluate the predicate on the results")
    return error
  }

  @Test("What cannot be translated is told with its part and its field when the query runs")
  func untranslatable() {
    func expect(
      _ operation: String, _ field: String?, _ predicate: Predicate<Traveller>,
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
    expect("Comparison", "price", #Predicate { $0.price > price })
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
      #Predicate { traveller in traveller.scores.contains { $0 == traveller.age } })
  }

  @Test("A part that fails for a value does not find it, nor does its opposite")
  func failing() throws {
    try travellers.insert(Traveller(id: "a", lastName: "Doe", age: 0, rank: nil))
    try travellers.insert(Traveller(id: "b", lastName: "Doe", age: 2, rank: 9))
    try travellers.insert(Traveller(id: "c", lastName: "Doe", age: .max, rank: 1, small: 100))
    func keys(_ predicate: Predicate<Traveller>) throws -> [String] {
      try travellers.find(ModelCondition(predicate)).keys()
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

  @Test("Casts to the type of a property and out of its optional are understood, others are not")
  func casts() throws {
    typealias Rank = PredicateExpressions.KeyPath<PredicateExpressions.Variable<Traveller>, Int?>
    try travellers.insert(Traveller(id: "a", lastName: "Doe", rank: nil))
    try travellers.insert(Traveller(id: "b", lastName: "Doe", rank: 9))
    func rank(_ variable: PredicateExpressions.Variable<Traveller>) -> Rank {
      PredicateExpressions.build_KeyPath(
        root: PredicateExpressions.build_Arg(variable), keyPath: \.rank)
    }
    let conditional = Predicate<Traveller> {
      PredicateExpressions.build_Equal(
        lhs: PredicateExpressions.ConditionalCast<Rank, Int>(rank($0)),
        rhs: PredicateExpressions.build_Arg(9 as Int?))
    }
    #expect(try travellers.find(ModelCondition(conditional)).keys() == ["b"])
    let check = Predicate<Traveller> { PredicateExpressions.TypeCheck<Rank, Int>(rank($0)) }
    #expect(try travellers.find(ModelCondition(check)).keys() == ["b"])
    let other = Predicate<Traveller> { PredicateExpressions.TypeCheck<Rank, String>(rank($0)) }
    #expect(failure(other)?[.operation] == "TypeCheck")
  }

  @Test("Equality, ranges and beginnings on indexed fields use the index", .sqlite)
  func indexes() throws {
    for number in 0..<50 {
      try travellers.insert(Traveller(id: "t\(number)", lastName: "D\(number)", age: number))
    }
    try travellers.documents.createIndex("age")
    func explained(_ predicate: Predicate<Traveller>) throws -> Explanation {
      try travellers.find(ModelCondition(predicate)).explain()
    }
    let both = try explained(#Predicate { $0.lastName == "D7" && $0.age > 3 })
    #expect(!both.indexes.isEmpty && both.checkedPerDocument == nil)
    let key = try explained(#Predicate { $0.id == "t7" })
    #expect(key.plan.contains { $0.contains("nano_key") } && key.checkedPerDocument == nil)
    for predicate in [
      #Predicate<Traveller> { (3...5).contains($0.age) },
      #Predicate<Traveller> { $0.lastName.starts(with: "D4") },
      #Predicate<Traveller> { ["D1", "D2"].contains($0.lastName) },
      #Predicate<Traveller> { $0.age == 3 },
      #Predicate<Traveller> { $0.lastName == "D1" || $0.lastName == "D2" },
    ] {
      let explanation = try explained(predicate)
      #expect(!explanation.indexes.isEmpty, "\(explanation)")
      #expect(explanation.checkedPerDocument == nil, "\(explanation)")
    }
  }
}

/// The ``StoreError`` that a block throws; nil if it throws none.
private func error(_ work: () throws -> Void) -> StoreError? {
  do { try work() } catch { return error as? StoreError }
  return nil
}
