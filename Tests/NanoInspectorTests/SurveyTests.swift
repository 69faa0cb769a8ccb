// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoInspector

@Suite("The shape of documents")
struct SurveyTests {
  @Test("Paths have types, shares, distinct values and extremes")
  func statistics() throws {
    var survey = Survey()
    survey.add(["year": 1950, "tags": ["a", "b"], "inner": ["x": 1]])
    survey.add(["year": 1960, "tags": ["a"], "inner": ["x": "one"]])
    survey.add(["year": .null])

    let paths = survey.ordered
    #expect(paths.map(\.path.text) == ["year", "tags", "tags[]", "inner", "inner.x"])
    let year = paths[0].statistics
    #expect(year.documents == 3)
    #expect(year.types.map(\.name) == ["integer", "null"])
    #expect(year.smallest == 1950 && year.largest == 1960 && year.distinct == 2)
    let tags = paths[2].statistics
    #expect(tags.values == 3 && tags.documents == 2)
    let most = try #require(tags.frequent(1).first)
    #expect(most.value == "a" && most.count == 2)
  }

  @Test("A histogram counts each number once, also at its bounds")
  func histogram() throws {
    var survey = Survey()
    for number in 0...100 { survey.add(["n": .int(Int64(number))]) }

    let histogram = try #require(survey.paths[0].statistics.histogram(bins: 10))

    #expect(histogram.heights.reduce(0, +) == 101)
    #expect(histogram.heights[9] == 11)
  }

  @Test("Numbers and dates at one path have no common histogram")
  func mixed() {
    var survey = Survey()
    survey.add(["n": 1])
    survey.add(["n": .date(Date())])
    #expect(survey.paths[0].statistics.histogram(bins: 10) == nil)
  }

  @Test("Every hostile name is found by the field that the survey makes of it")
  func fields() throws {
    let store = try Store(.memory)
    for (number, name) in HostileStrings.all.enumerated() where !name.isEmpty {
      let collection = store["c\(number)"]
      guard (try? collection.insert(DocumentObject([(name, .int(1))]))) != nil else { continue }
      let object = try #require(try collection.find().first()).object()
      var survey = Survey()
      survey.add(object)
      // The name of the row ID is not that of a field.
      guard let path = survey.paths.first?.path else {
        #expect(name == DocumentObject.rowIDName)
        continue
      }
      // Query text cannot name this field.
      if name.utf8.contains(0) {
        #expect(path.field == nil)
        continue
      }
      let field = try #require(path.field)
      let condition = Condition.comparison(.field(field), .equal, .value(1))

      #expect(try collection.find(condition).count() == 1, "\(name.debugDescription)")
      #expect(try collection.find(condition.queryText).count() == 1, "\(name.debugDescription)")
    }
  }

  @Test(
    "A small collection is read whole, a large one in runs at even distances, each document once")
  func samples() throws {
    let store = try Store(.memory)
    let numbers = store["numbers"]
    try numbers.insert((0..<5_000).map { ["n": .int($0)] as DocumentObject })

    func sample(_ query: DocumentQuery, _ size: Int) throws -> (Sample, [Int64]) {
      var seen: [Int64] = []
      let sample = try store.read {
        try Sample(of: query, size: size) { seen.append($0["n"]?.int64 ?? -1) }
      }
      return (sample, seen)
    }

    let (all, everything) = try sample(numbers.find(), 5_000)
    #expect(all.kind == .all && everything.count == 5_000)
    let (spread, some) = try sample(numbers.find(), 400)
    #expect(spread.kind == .spread && spread.count == some.count)
    #expect(some.count == 400 && Set(some).count == 400)
    #expect(some.contains { $0 > 4_800 } && some.contains(0))
    let (first, matches) = try sample(numbers.find("[n] >= 100"), 400)
    #expect(first.kind == .first && first.count == 400 && matches == Array(100..<500))
    let (few, rest) = try sample(numbers.find("[n] >= 4990"), 400)
    #expect(few.kind == .all && rest.count == 10)
    let (limited, three) = try sample(numbers.find("TRUE LIMIT 3"), 400)
    #expect(limited.count == 3 && three.count == 3)
    #expect(try sample(store["none"].find(), 10).0.count == 0)
  }

  @Test("Documents of many different names are truncated, and deep ones do not exhaust the stack")
  func bounds() {
    var survey = Survey()
    for number in 0..<2_000 { survey.add(DocumentObject([("n\(number)", .int(1))])) }
    #expect(survey.isTruncated && survey.paths.count == Survey.maximumPaths)
    var deep: DocumentValue = 1
    for _ in 0..<400 { deep = .object(["a": deep]) }
    var other = Survey()
    other.add(["a": deep])
    #expect(other.paths.count < 100)
  }
}
