// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@Suite struct ThreeWayMergeTests {
  private func merge(
    _ base: DocumentObject, _ winner: DocumentObject, _ other: DocumentObject,
    counters: Set<FieldPath> = [], sets: Set<FieldPath> = []
  ) -> ThreeWayMerge.Result {
    ThreeWayMerge(counters: counters, sets: sets).merge(base: base, winner: winner, other: other)
  }

  @Test func `Fields that one side changed take its value`() {
    let result = merge(
      ["a": 1, "b": 1, "c": 1], ["a": 2, "b": 1, "c": 1], ["a": 1, "b": 3, "c": 1])
    #expect(result.object == ["a": 2, "b": 3, "c": 1])
    #expect(result.overridden.isEmpty)
  }

  @Test func `Added and removed fields are merged`() {
    let result = merge(["a": 1, "b": 1], ["b": 1, "x": 1], ["a": 1, "y": 2])
    #expect(result.object == ["x": 1, "y": 2])
    #expect(result.overridden.isEmpty)
  }

  @Test func `A field that both sides changed has the value of the winner, and is reported`() {
    let result = merge(
      ["a": 1, "o": ["x": 1, "y": 1]], ["a": 2, "o": ["x": 2, "y": 1]],
      ["a": 3, "o": ["x": 3, "y": 4]])
    #expect(result.object == ["a": 2, "o": ["x": 2, "y": 4]])
    #expect(result.overridden == ["a", "o.x"])
  }

  @Test func `A field that both sides changed to the same value is no conflict`() {
    #expect(merge(["a": 1], ["a": 2], ["a": 2]).overridden.isEmpty)
  }

  @Test func `A field that one side removed and the other changed is reported`() {
    let result = merge(["a": 1], [:], ["a": 2])
    #expect(result.object.isEmpty)
    #expect(result.overridden == ["a"])
  }

  @Test func `Counters add what both sides added`() {
    let result = merge(
      ["n": 10, "m": ["k": 1.5]], ["n": 12, "m": ["k": 2.5]], ["n": 13, "m": ["k": 1.0]],
      counters: ["n", "m.k"])
    #expect(result.object == ["n": 15, "m": ["k": 2.0]])
    #expect(result.overridden.isEmpty)
    // The same number on both sides.
    #expect(merge(["n": 1], ["n": 2], ["n": 2], counters: ["n"]).object == ["n": 3])
    #expect(
      merge(["m": ["k": 1]], ["m": ["k": 2]], ["m": ["k": 2]], counters: ["m.k"]).object
        == ["m": ["k": 3]])
    // Without a base, from zero.
    #expect(merge([:], ["n": 2], ["n": 3], counters: ["n"]).object == ["n": 5])
  }

  @Test func `Counters add decimals exactly`() throws {
    func decimal(_ text: String) throws -> DocumentValue {
      .decimal(try #require(DecimalValue(text)))
    }
    let (base, winner, sum) = (try decimal("0.1"), try decimal("0.3"), try decimal("0.4"))
    #expect(
      merge(["n": base], ["n": winner], ["n": try decimal("0.2")], counters: ["n"]).object
        == ["n": sum])
    // With integers, and without a base.
    #expect(
      merge(["n": 1], ["n": winner], ["n": 2], counters: ["n"]).object
        == ["n": try decimal("1.3")])
    #expect(
      merge([:], ["n": base], ["n": winner], counters: ["n"]).object == ["n": sum])
  }

  @Test func `Counters whose sum is out of range have the value of the winner, and are reported`()
    throws
  {
    let integers = merge(["n": 0], ["n": .int(.max)], ["n": 1], counters: ["n"])
    #expect(integers.object == ["n": .int(.max)])
    #expect(integers.overridden == ["n"])
    let large = DocumentValue.decimal(try #require(DecimalValue("1E+100")))
    let small = DocumentValue.decimal(try #require(DecimalValue("0.1")))
    let decimals = merge(["n": 0], ["n": large], ["n": small], counters: ["n"])
    #expect(decimals.object == ["n": large])
    #expect(decimals.overridden == ["n"])
  }

  @Test func `Sets have what either side added, without what either side removed`() {
    let result = merge(
      ["tags": ["a", "b", "c"]], ["tags": ["b", "c", "x"]], ["tags": ["a", "b", "y"]],
      sets: ["tags"])
    #expect(result.object == ["tags": ["b", "x", "y"]])
    #expect(result.overridden.isEmpty)
  }

  @Test func `NaN is a value that no side changed`() {
    let nan = DocumentValue.double(.nan)
    let result = merge(
      ["t": "a", "x": nan, "y": [nan]], ["t": "b", "x": nan, "y": [nan]],
      ["t": "a", "x": 5, "y": [nan]])
    #expect(result.object["x"] == 5)
    #expect(result.overridden.isEmpty)
    let tags = merge(["s": [nan]], ["s": [nan, 1]], ["s": [nan, 2]], sets: ["s"])
    #expect(tags.object["s"]?.array?.count == 3)
  }

  @Test func `A random merge keeps every uncontested change`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let names = (0..<6).map { "f\($0)" }
      func random() -> DocumentObject {
        DocumentObject(
          names.filter { _ in Bool.random(using: &generator) }
            .map { ($0, .int(Int64.random(in: 0..<3, using: &generator))) })
      }
      let (base, winner, other) = (random(), random(), random())
      let merged = merge(base, winner, other).object
      for name in names {
        let expected = winner[name] == base[name] ? other[name] : winner[name]
        #expect(merged[name] == expected)
      }
    }
  }
}
