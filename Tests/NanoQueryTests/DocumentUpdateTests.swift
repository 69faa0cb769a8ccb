// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoTesting
import Testing

@Suite("Updates of stored bodies")
struct DocumentUpdateTests {
  private static let seed =
    ProcessInfo.processInfo.environment["NANOSTORE_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: .min ... .max)

  @Test("An unknown operator is an error, also without fields", arguments: ["$bad", "set", ""])
  func unknownOperator(name: String) {
    for fields in [[:], ["a": 1]] as [DocumentValue] {
      #expect(throws: StoreError.self) { try FieldChange.list(["$set": ["b": 1], name: fields]) }
    }
  }

  @Test(
    "Changing the bytes of a body gives the same bytes, or the same error, as changing its values")
  func patching() throws {
    print("updates: NANOSTORE_SEED=\(Self.seed)")
    var random = NanoTesting.SplitMix(seed: Self.seed)
    var patched = 0
    for round in 0..<3_000 {
      var documents = DocumentGenerator(random: random.split(), isUniform: random.oneIn(2))
      let object = documents.object()
      let changes = (0..<random.number(1...3)).map { _ in
        change(&random, &documents.values, object.map { name, _ in name })
      }

      var changed = object
      let expected = Result { () throws(StoreError) in
        for change in changes { try change.apply(to: &changed) }
        return bytes(of: changed)
      }
      var writer = JSONWriter(capacity: 64)
      let actual = Result { () throws(StoreError) in
        try bytes(of: object).withUnsafeBytes { bytes in
          Result { () throws(StoreError) in
            try DocumentUpdate(changes).patch(bytes, to: &writer)
          }
        }.get()
      }

      let comment: Comment = "round \(round): \(changes) of \(object)"
      switch (expected, actual) {
      case (.success(let expected), .success(true)):
        patched += 1
        #expect(writer.withBytes { Array($0) } == expected, comment)
      case (.failure(let expected), .failure(let actual)): #expect(actual == expected, comment)
      case (_, .success(false)): break
      default: Issue.record("\(expected), but \(actual); \(comment)")
      }
    }
    // Otherwise nothing would have been compared.
    #expect(patched > 300)
  }

  @Test("A value that cannot be stored is not written as null because another change follows")
  func notStorable() throws {
    let late = DocumentValue.date(Date(timeIntervalSinceReferenceDate: 1e12))
    for changes in [
      [FieldChange.set("d", late), .increment("n")], [.increment("n"), .set("d", late)],
    ] {
      var writer = JSONWriter(capacity: 64)
      let isPatched = try bytes(of: ["d": 1]).withUnsafeBytes { bytes in
        Result { () throws(StoreError) in try DocumentUpdate(changes).patch(bytes, to: &writer) }
      }.get()
      let failure = writer.failure
      #expect(!isPatched || failure?.code == .valueNotStorable)
    }
  }

  @Test(
    "A decimal that cannot be stored is refused, and does not turn an exact number into a double")
  func operandNotStorable() throws {
    for old: DocumentValue in [.decimal(Decimal(string: "9.99")!), 3] {
      for operand in [Decimal(1) / 3, .nan] {
        for change in [FieldChange.increment("a", by: operand), .multiply("a", by: operand)] {
          let applied = #expect(throws: StoreError.self, "\(change)") {
            var object: DocumentObject = ["a": old]
            try change.apply(to: &object)
          }
          #expect(applied?.code == .valueNotStorable)
          let body = bytes(of: ["a": old])
          let patched = #expect(throws: StoreError.self, "\(change)") {
            try body.withUnsafeBytes { bytes in
              var writer = JSONWriter(capacity: 64)
              _ = try DocumentUpdate([change]).patch(bytes, to: &writer)
            }
          }
          #expect(patched?.code == .valueNotStorable)
        }
      }
    }
    var object: DocumentObject = ["a": 1.5]
    try FieldChange.multiply("a", by: Decimal(2)).apply(to: &object)
    #expect(object == ["a": 3.0])
  }

  @Test(
    "Removing an element beyond the end of an array changes nothing, and setting one is an error")
  func beyondEnd() throws {
    let before: DocumentObject = ["tags": ["x", "y"], "n": 1]
    for path in ["tags.2", "tags.3", "tags.9.name"] as [FieldPath] {
      for change in [
        FieldChange.remove(path), .pull(path, "x"), .pop(path), .rename(path, to: "new"),
      ] {
        var object = before
        try change.apply(to: &object)
        #expect(object == before, "\(change)")
      }
    }
    var object = before
    try FieldChange.set("tags.2", "z").apply(to: &object)
    #expect(object["tags"] == ["x", "y", "z"])
    let error = #expect(throws: StoreError.self) {
      try FieldChange.set("tags.4", "z").apply(to: &object)
    }
    #expect(error?.code == .typeMismatch && error?[.field] == "tags.4")
  }

  @Test("A condition of MongoDB or a misspelled option is not taken for an element")
  func unknownOptions() throws {
    for (name, operand) in [
      ("$pull", ["$in": ["x"]]), ("$pull", ["$gt": 5]), ("$addToSet", ["$ech": [1]]),
      ("$push", ["$slice": 2]), ("$push", ["$where": "[a] = 1"]), ("$pull", ["$each": [1]]),
      ("$addToSet", ["$each": [1], "$position": 0]),
    ] as [(String, DocumentObject)] {
      let error = #expect(throws: StoreError.self) {
        try FieldChange.list([name: ["a": .object(operand)]] as DocumentObject)
      }
      #expect(error?.code == .invalidArgument && error?[.position]?.hasPrefix(name) == true)
    }
  }

  @Test("The condition of $pull can refer to the path of a leaf")
  func pullByLeafPath() throws {
    let changes = try FieldChange.list([
      "$pull": ["a": ["$where": "LEAF([__leafpath__] = 'n' AND [@] > 1)"]]
    ])
    _ = try DocumentUpdate(changes)
    var object: DocumentObject = ["a": [["n": 1], ["n": 2], ["m": 3]]]
    for change in changes { try change.apply(to: &object) }
    #expect(object == ["a": [["n": 1], ["m": 3]]])
  }

  @Test("The condition of $pull is parsed on its own, with comments, and up to its end")
  func pullCondition() throws {
    func changes(_ text: String) throws(StoreError) -> [FieldChange] {
      try FieldChange.list(["$pull": ["a": ["$where": .string(text)]]])
    }
    var object: DocumentObject = ["a": [1, 2]]
    for change in try changes("[@] > 1 -- big") { try change.apply(to: &object) }
    #expect(object == ["a": [1]])
    for (text, position) in [
      ("[@] > > 1", "7"), ("[n] > 1) LIMIT (5", "8"), ("[n] > 1 LIMIT 5", "9"),
    ] {
      let error = #expect(throws: StoreError.self, "\(text)") { try changes(text) }
      #expect(error?.code == .invalidQuery)
      #expect(error?[.position] == position)
    }
  }

  private func bytes(of object: DocumentObject) -> [UInt8] {
    var writer = JSONWriter(capacity: 64)
    writer.object(object)
    return writer.withBytes { Array($0) }
  }

  private func change(
    _ random: inout NanoTesting.SplitMix, _ values: inout ValueGenerator, _ names: [String]
  ) -> FieldChange {
    var components = [random.pick(names + ["a", "b", "new", "$date", ""])]
    while random.oneIn(3) {
      components.append(random.pick(["a", "b", "name", "$date", "0", "new"]))
    }
    let path = FieldPath(components: components)
    let value = values.value(random.pick(ValueGenerator.Kind.allCases))
    let number = random.pick([1, -3, Int.max, 2])
    return switch random.number(0...11) {
    case 0: .set(path, value)
    case 1: .setOnInsert(path, value)
    case 2: .remove(path)
    case 3: .rename(path, to: FieldPath(components: [random.pick(["a", "new", "$date"])]))
    case 4: .increment(path, by: number)
    case 5: .multiply(path, by: random.oneIn(2) ? Double(number) : 0.5)
    case 6: .min(path, value)
    case 7: .max(path, value)
    case 8: .append(path, value)
    case 9: .addToSet(path, value)
    case 10: .pull(path, value)
    default: .pop(path, random.oneIn(2) ? .first : .last)
    }
  }
}
