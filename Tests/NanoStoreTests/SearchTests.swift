// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Searches by attribute and value")
struct SearchTests {
  private func objects(_ indexing: IndexingPolicy = .declared) throws -> DocumentCollection {
    let objects = try anyStore()["objects"]
    try objects.save(
      [
        "FirstName": "Tito", "Age": 40, "Zip": "007",
        "Countries": ["Spain": ["Barcelona": ["Rating": "Good"]], "France": ["Rating": "Fair"]],
      ], key: "tito")
    try objects.save(
      ["FirstName": "Ann", "Age": "41", "Rating": "Good", "Tags": ["a", "b%", nil]], key: "ann")
    try objects.save(["FirstName": "Bo", "Age": 7, "Nested": ["Age": 40]], key: "bo")
    try objects.setIndexing(indexing)
    return objects
  }

  static let policies: [IndexingPolicy] = [.declared, .everything]

  @Test("An attribute without a period is found at any depth", arguments: policies)
  func component(policy: IndexingPolicy) throws {
    let objects = try objects(policy)
    let good = Search(attribute: "Rating", match: .equalTo, value: "Good")
    #expect(try good.keys(in: objects) == ["tito", "ann"])
    #expect(try Search(attribute: "Barcelona").keys(in: objects) == ["tito"])
    let path = Search(attribute: "Countries.France.Rating", match: .equalTo, value: "Fair")
    #expect(try path.keys(in: objects) == ["tito"])
  }

  @Test(
    "A value without an attribute is found in any field, without wildcards", arguments: policies)
  func value(policy: IndexingPolicy) throws {
    let objects = try objects(policy)
    func keys(_ value: DocumentValue, _ match: Match = .contains) throws -> [String] {
      try Search(match: match, value: value).keys(in: objects)
    }
    #expect(try keys("b%") == ["ann"])
    #expect(try keys("_%").isEmpty)
    #expect(try keys(.null, .equalTo) == ["ann"])
    #expect(try keys(40, .equalTo) == ["tito", "bo"])
    #expect(try keys("40", .equalTo) == ["tito", "bo"])
    #expect(try keys("41", .equalTo) == ["ann"])
    #expect(try keys("07", .endsWith) == ["tito"])
    #expect(try keys(["Ann", "Bo"], .equalTo) == ["ann", "bo"])
  }

  @Test("Strings of digits are compared as numbers in order comparisons")
  func order() throws {
    let objects = try objects()
    let above = Search(attribute: "Age", match: .greaterThan, value: "9")
    #expect(try above.keys(in: objects) == ["tito", "bo"])
    let below = Search(attribute: "Age", match: .lessThan, value: 9)
    #expect(try below.keys(in: objects) == ["bo"])
  }

  @Test("An expression must match on a single leaf, and AND binds tighter than OR")
  func expressions() throws {
    let objects = try objects()
    var search = Search(expressions: [
      SearchExpression(.attribute(.equalTo, "FirstName")).and(.value(.equalTo, "Ann"))
        .or(.attribute(.equalTo, "Nested.Age"))
    ])
    #expect(try search.keys(in: objects) == ["ann", "bo"])
    search.expressions.append(SearchExpression(.value(.equalTo, "Good")))
    #expect(try search.keys(in: objects) == ["ann"])
    // A name and a value on different leaves do not match within one expression.
    search.expressions = [
      SearchExpression(.attribute(.equalTo, "FirstName")).and(.value(.equalTo, "Good"))
    ]
    #expect(try search.count(in: objects) == 0)
  }

  @Test("Results are sorted before the limit applies, grouped by value, and restricted to fields")
  func results() throws {
    let objects = try objects()
    var search = Search(limit: 1, offset: 1, orderings: [try SearchOrdering("FirstName")])
    #expect(try search.keys(in: objects) == ["bo"])
    search = Search(attribute: "Rating", match: .equalTo, value: "Good", groupsValues: true)
    #expect(try search.keys(in: objects) == ["tito"])
    search = Search(attribute: "Nested", fields: ["FirstName"])
    let found = try search.documents(in: objects)
    #expect(try found.map { try $0.object() } == [["FirstName": "Bo"]])
    #expect(found[0].isPartial)
  }

  @Test("A grouped search has the same conditions on keys")
  func groupedByKey() throws {
    let objects = try objects()
    var search = Search(expressions: [SearchExpression(.key(.beginsWith, "t"))])
    #expect(try search.keys(in: objects) == ["tito"])
    search.groupsValues = true
    #expect(try search.keys(in: objects) == ["tito"])
    #expect(try search.count(in: objects) == 1)
  }

  @Test("Aggregates include strings that read as numbers")
  func aggregates() throws {
    let objects = try objects()
    let all: [Aggregate] = [
      .count, .sum("Age"), .average("Age"), .max("Age"), .min("Age"),
    ]
    #expect(
      try Search().aggregate(all, in: objects) == [3, 88, .double(88.0 / 3), "41", 7])
    let tito = Search(key: "tito")
    #expect(try tito.aggregate([.sum("Age")], in: objects) == [40])
  }

  @Test("Aggregates use defaults, and fields that are not selected")
  func aggregatedDefaults() throws {
    let objects = try anyStore()["objects"]
    try objects.save(["m": 12], key: "a")
    try objects.save(["m": "7"], key: "b")
    try objects.save(["n": 1], key: "c")
    try objects.setDefaults(["m": 5])

    let search = Search(fields: ["n"])
    let aggregates: [Aggregate] = [.count, .countOf("m"), .sum("m"), .max("n")]
    #expect(try search.aggregate(aggregates, in: objects) == [3, 3, 24, 1])
  }

  @Test("A grouped search with a negative offset is an error")
  func negativeOffset() throws {
    let objects = try objects()
    let bag = Bag(in: objects.store)
    let search = Search(attribute: "Rating", offset: -1, groupsValues: true)
    #expect(code { _ = try search.documents(in: objects) } == .invalidArgument)
    #expect(code { _ = try search.keys(in: objects) } == .invalidArgument)
    #expect(code { _ = try search.count(in: objects) } == .invalidArgument)
    #expect(code { _ = try search.documents(in: bag) } == .invalidArgument)
  }

  @Test("Documents can be searched by the millisecond in which they were added")
  func addedMillisecond() throws {
    let objects = try anyStore()["objects"]
    // The quotient of this time and a millisecond is not exact.
    let moment: Int64 = 1_606_193_702_294_000
    try objects.store.engine().write(nil) { writer in
      for offset: Int64 in [-1, 0, 999, 1_000] {
        try Array("{}".utf8).withUnsafeBytes { body in
          _ = try writer.insert(
            NewDocument(key: DocumentKey("\(offset)"), added: moment + offset, body: body),
            into: "objects")
        }
      }
    }
    func keys(_ relation: AddedDateMatch.Relation) throws -> [String] {
      let date = Date(timeIntervalSince1970: Double(moment) / 1e6)
      return try Search(added: AddedDateMatch(relation, date)).keys(in: objects)
    }
    #expect(try keys(.before) == ["-1"])
    #expect(try keys(.on) == ["0", "999"])
    #expect(try keys(.after) == ["1000"])
  }

  @Test("Documents can be searched by the day or time they were added")
  func added() throws {
    let objects = try anyStore()["objects"]
    let document = try objects.save(["a": 1], key: "a")
    let moment = try #require(document.added)
    func count(_ relation: AddedDateMatch.Relation, _ date: Date, _ day: TimeZone? = nil) throws
      -> Int
    {
      try Search(added: AddedDateMatch(relation, date, day: day)).count(in: objects)
    }
    #expect(try count(.on, moment) == 1)
    #expect(try count(.before, moment) == 0)
    #expect(try count(.after, moment) == 0)
    #expect(try count(.before, moment.addingTimeInterval(1)) == 1)
    #expect(try count(.after, moment.addingTimeInterval(-1)) == 1)
    let zone = try #require(TimeZone(secondsFromGMT: 5 * 3600 + 1800))
    #expect(try count(.on, moment, zone) == 1)
    #expect(try count(.on, moment.addingTimeInterval(86_400), zone) == 0)
    #expect(try count(.before, moment.addingTimeInterval(86_400), zone) == 1)
  }

  /// The first second of days, and that of the next day: in summer, at both changes of the clock, and where midnight
  /// does not exist or is the end of an hour that is repeated.
  static let days: [(String, Int64, Int64)] = [
    ("Europe/Berlin", 1_782_856_800, 1_782_943_200),
    ("Europe/Berlin", 1_774_738_800, 1_774_821_600),
    ("Europe/Berlin", 1_792_879_200, 1_792_969_200),
    ("America/Sao_Paulo", 1_541_300_400, 1_541_383_200),
    ("America/Sao_Paulo", 1_518_832_800, 1_518_922_800),
  ]

  @Test("Documents can be searched by a day of any length", arguments: days)
  func addedDay(zone: String, start: Int64, end: Int64) throws {
    let zone = try #require(TimeZone(identifier: zone))
    let objects = try anyStore()["objects"]
    let times = [start * 1_000_000 - 1, start * 1_000_000, end * 1_000_000 - 1, end * 1_000_000]
    try objects.store.engine().write(nil) { writer in
      for (number, time) in times.enumerated() {
        try Array("{}".utf8).withUnsafeBytes { body in
          _ = try writer.insert(
            NewDocument(key: DocumentKey("\(number)"), added: time, body: body), into: "objects")
        }
      }
    }
    for second in [start, start + 1_800, start + 12 * 3_600, end - 1_800, end - 1] {
      let date = Date(timeIntervalSince1970: Double(second))
      func keys(_ relation: AddedDateMatch.Relation) throws -> [String] {
        let search = Search(added: AddedDateMatch(relation, date, day: zone))
        let copy = try Search(json: search.json)
        #expect(copy == search)
        return try copy.keys(in: objects)
      }
      #expect(try keys(.before) == ["0"])
      #expect(try keys(.on) == ["1", "2"])
      #expect(try keys(.after) == ["3"])
    }
  }

  @Test("Only decimal digits read as a number")
  func numbers() throws {
    let objects = try anyStore()["objects"]
    try objects.save(["code": "0x10"], key: "hexadecimal")
    try objects.save(["code": "+16"], key: "plus")
    try objects.save(["code": "16"], key: "decimal")
    try objects.save(["code": 16], key: "number")
    func keys(_ text: String) throws -> [String] {
      try Search(match: .equalTo, value: .string(text)).keys(in: objects)
    }
    #expect(try keys("0x10") == ["hexadecimal"])
    #expect(try keys("+16") == ["plus"])
    #expect(try keys("16") == ["decimal", "number"])
    #expect(try keys("1.6e1") == ["number"])
    #expect(try Search().aggregate([.sum("code")], in: objects) == [32])
  }

  @Test("A condition on a key or an attribute with a value that is not text cannot be decoded")
  func predicatesOfText() throws {
    for value in ["null", "3", "[]"] {
      for column in ["key", "attribute"] {
        let json = #"{"column": "\#(column)", "match": "contains", "value": \#(value)}"#
        #expect(throws: DecodingError.self) {
          try DocumentObject(json: json).decoded(as: SearchPredicate.self)
        }
      }
      let json = #"{"column": "value", "match": "equalTo", "value": \#(value)}"#
      let predicate = try DocumentObject(json: json).decoded(as: SearchPredicate.self)
      #expect(try predicate == .value(.equalTo, DocumentValue(json: value)))
      #expect(
        try DocumentObject(encoding: predicate).decoded(as: SearchPredicate.self) == predicate)
    }
  }

  @Test("A search can be serialized as JSON and reset")
  func serialization() throws {
    var search = Search(
      attribute: "Age", match: .lessThan, value: 41, type: "Car",
      added: AddedDateMatch(.before, Date(timeIntervalSince1970: 0)), limit: 3,
      orderings: [try SearchOrdering("Age", ascending: false)], fields: ["Age"])
    search.expressions = [SearchExpression(.key(.contains, "a")).or(.value(.equalTo, .null))]
    #expect(try Search(json: search.json) == search)
    search.reset()
    #expect(search == Search())
  }
}
