// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoTesting
import Testing

@Suite("Field defaults")
struct FieldDefaultsTests {
  private static let seed = UInt64.random(in: .min ... .max)

  /// Calls the closure with random documents and conditions, with fields of a different document as defaults.
  private func each(
    _ count: Int, _ ask: (FieldDefaults, DocumentObject, Condition) throws -> Void
  ) throws {
    var random = NanoTesting.SplitMix(seed: Self.seed)
    for _ in 0..<count {
      var documents = DocumentGenerator(random: random.split(), isUniform: random.oneIn(2))
      var conditions = ConditionGenerator(random: random.split())
      let document = documents.document(key: nil).object
      var given = DocumentObject()
      for (name, value) in documents.document(key: nil).object where random.oneIn(2) {
        given[name] = value
      }
      given["missing"] = random.oneIn(2) ? 1 : nil
      conditions.documents = [document, given]
      conditions.preferredPaths = given.names.map { FieldPath(components: [$0]) }
      guard let defaults = FieldDefaults(given) else { continue }
      for _ in 0..<20 { try ask(defaults, document, conditions.condition(3)) }
    }
  }

  @Test("A condition rewritten for stored documents matches the same documents")
  func rewriting() throws {
    var rewritten = 0
    try each(200) { defaults, object, condition in
      guard let stored = condition.asStored(defaults) else { return }
      let seen = DocumentSubject(object, defaults: defaults)
      // A regular expression may be invalid.
      guard let expected = try? Evaluator(seen).holds(condition) else { return }
      rewritten += 1
      let actual = try Evaluator(DocumentSubject(object)).holds(stored)
      #expect(
        actual == expected,
        "seed \(Self.seed): \(condition.queryText) on \(object) with \(defaults.object)")
    }
    #expect(rewritten > 1_000)
  }

  @Test("A compiled matcher returns the same result as the evaluator")
  func program() throws {
    try each(150) { defaults, object, condition in
      let seen = DocumentSubject(object, defaults: defaults)
      guard let expected = try? Evaluator(seen).holds(condition) else { return }
      var writer = JSONWriter()
      writer.object(object)
      let program = try ConditionMatcher(condition, defaults: defaults)
      let actual = try program.holds(for: writer.bytes) { seen.attribute($0) }
      #expect(
        actual == expected,
        "seed \(Self.seed): \(condition.queryText) on \(object) with \(defaults.object)")
    }
  }

  @Test(
    "Defaults are equivalent to filling in missing fields, unless another type replaces an object")
  func filledIn() throws {
    let defaults: DocumentObject = ["a": 1, "o": ["k": 9, "l": ["m": [1, 2]]], "t": "x"]
    let documents: [DocumentObject] = [
      [:], ["a": nil], ["a": [2, 1]], ["o": [:]], ["o": ["k": nil]], ["o": ["l": [:]]],
      ["o": ["k": 5, "l": ["m": 7]], "t": ""], ["o": ["l": ["m": []]]], ["z": 1],
    ]
    var random = RandomTrees(random: .init(state: Self.seed))
    let paths: [FieldPath] = ["a", "o.k", "o.l.m", "t", "z"]
    for object in documents {
      let seen = Evaluator(DocumentSubject(object, defaults: FieldDefaults(defaults)))
      let filled = Evaluator(DocumentSubject(object.filled(with: defaults)))
      for _ in 0..<300 {
        let tree = random.condition(3).replacingExpressions { expression in
          if case .field(let path) = expression, !path.isElement {
            return .field(random.pick(paths))
          }
          if case .parameter = expression { return .value(1) }
          return nil
        }
        guard !tree.hasLeafConditions, tree.fields.allSatisfy({ paths.contains($0) }),
          let expected = try? filled.holds(tree)
        else { continue }
        #expect(
          try seen.holds(tree) == expected, "seed \(Self.seed): \(tree.queryText) on \(object)")
      }
      for path in paths { #expect(try seen.values(.field(path)) == filled.values(.field(path))) }
    }
  }

  @Test("An equality is rewritten so that an index can serve it")
  func equality() throws {
    let defaults = try #require(FieldDefaults(["active": true, "n": 3]))
    func stored(_ text: String) throws -> String? {
      try QueryText(text).condition.asStored(defaults)?.queryText
    }
    #expect(try stored("[active] = TRUE") == "[active] = TRUE OR NOT EXISTS([active])")
    #expect(try stored("[active] = FALSE") == "[active] = FALSE")
    #expect(try stored("[active] IS NULL") == "[active] IS NULL AND EXISTS([active])")
    #expect(try stored("[other] = 1") == "[other] = 1")
    #expect(try stored("[active] = [n]") == nil)
    #expect(FieldDefaults([:]) == nil)
  }
}

extension DocumentObject {
  /// Returns the object with the missing fields of the other object, at any level.
  fileprivate func filled(with defaults: DocumentObject) -> DocumentObject {
    var filled = self
    for (name, value) in defaults {
      switch (self[name], value) {
      case (nil, _): filled[name] = value
      case (.object(let inner)?, .object(let innerDefaults)):
        filled[name] = .object(inner.filled(with: innerDefaults))
      default: break
      }
    }
    return filled
  }
}
