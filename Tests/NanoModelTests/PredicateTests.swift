// SPDX-License-Identifier: MIT

import Foundation
import NanoQuery
import NanoStoreModels
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
      store = try Store(.memory)
      var generator = TravellerGenerator(
        seed: hasFormerNames ? 7 : 11, hasFormerNames: hasFormerNames)
      documents = (0..<400).map { ("t\($0)", generator.document()) }
      for document in documents {
        try store[Traveller.collectionName].save(document.fields, key: document.key)
      }
      values = try store[Traveller.self].models()
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
      ])
  }
}
