// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// Two collections: people, and as many films, each with the key of a person.
private struct RelatedData {
  static let count = 20_000
  static let countries = 50
  static let years = 20

  static func person(_ number: Int) -> DocumentObject {
    [
      "name": .string("Person \(number)"), "country": .string("country \(number % countries)"),
      "biography": .string(String(repeating: "born and raised in a town ", count: 6)),
    ]
  }

  static func film(_ number: Int) -> DocumentObject {
    [
      "title": .string("Film \(number)"), "year": .int(Int64(1980 + number % years)),
      "directorID": .string(key(number &* 7_919 % count)),
      "plot": .string(String(repeating: "something happens to someone ", count: 6)),
    ]
  }

  static func key(_ number: Int) -> String { "person-\(number)" }

  /// Creates the same tables and indexes with SQLite.
  static func raw(_ folder: Folder) throws -> RawConnection {
    let connection = try RawConnection(try folder.freshFile("raw.db"))
    for table in ["people", "films"] {
      try connection.execute(
        "CREATE TABLE \(table)(id INTEGER PRIMARY KEY, key TEXT UNIQUE, body TEXT NOT NULL)")
    }
    try connection.execute("BEGIN")
    for number in 0..<count {
      for (table, key, object) in [
        ("people", key(number), person(number)), ("films", "film-\(number)", film(number)),
      ] {
        let body = object.jsonString()
        try connection.execute(
          "INSERT INTO \(table)(key, body) VALUES('\(key)', '\(body)')")
      }
    }
    try connection.execute("COMMIT")
    for (table, field) in [("people", "country"), ("films", "directorID"), ("films", "year")] {
      try connection.execute(
        "CREATE INDEX \(table)_\(field) ON \(table)(\(RawTable.field(field)))")
    }
    return connection
  }

  static func store(_ folder: Folder) throws -> Store {
    let store = try Store.untuned(folder.freshFile("ours.db"))
    try store["people"].createIndex("country")
    for field in ["directorID", "year"] { try store["films"].createIndex(field) }
    try store.write {
      for number in 0..<count {
        try store["people"].insert(person(number), key: key(number))
        try store["films"].insert(film(number), key: "film-\(number)")
      }
    }
    return store
  }
}

/// Reads 1,000 documents with one related document each. The result is the number of related documents.
struct IncludingScenario: Scenario {
  let name = "including"
  let work = "1,000 documents with a related document each"
  let unit = "query"
  let operations = RelatedData.years

  /// Two queries: the documents of a year, and those that their references name.
  var raw: Variant {
    Variant("raw SQLite C, two queries") { folder in
      let connection = try RelatedData.raw(folder)
      let films = try connection.prepare(
        "SELECT id, key, body, \(RawTable.field("directorID")) FROM films WHERE "
          + "\(RawTable.field("year"))=?1")
      let marks = Array(repeating: "?", count: RelatedData.count / RelatedData.years)
      let people = try connection.prepare(
        "SELECT id, key, body FROM people WHERE key IN (\(marks.joined(separator: ",")))")
      return { watch in
        try watch.measure {
          var found = 0
          for year in 0..<RelatedData.years {
            var keys: [[UInt8]] = []
            films.bind(1980 + year, at: 1)
            while try films.step() {
              _ = (films.integer(0), films.text(1), Array(films.text(2)))
              keys.append(Array(films.text(3)))
            }
            films.reset()
            // The bytes are valid until the statement is reset.
            let buffers = keys.map { key in
              let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: key.count, alignment: 1)
              buffer.copyBytes(from: key)
              return buffer
            }
            for (index, buffer) in buffers.enumerated() {
              people.bind(text: UnsafeRawBufferPointer(buffer), at: Int32(index + 1))
            }
            var related: [[UInt8]: [UInt8]] = [:]
            while try people.step() { related[Array(people.text(1))] = Array(people.text(2)) }
            people.reset()
            for buffer in buffers { buffer.deallocate() }
            for key in keys where related[key] != nil { found += 1 }
          }
          return found
        }
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("including", target: 2) { folder in
        let store = try RelatedData.store(folder)
        return { watch in
          try watch.measure {
            try (0..<RelatedData.years).reduce(0) { sum, year in
              let films = try store["films"].find(Field("year") == 1980 + year)
                .including("directorID", from: store["people"], as: "director").fetch()
              return films.reduce(sum) { $0 + $1.many("director").count }
            }
          }
        }
      }
    ]
  }
}

/// Finds documents by a field of the document that they refer to. The result is the number of documents.
struct RelatedScenario: Scenario {
  let name = "related"
  let work = "about 400 documents by a field of a related document"
  let unit = "query"
  let operations = RelatedData.countries

  var raw: Variant {
    Variant("raw SQLite C, join") { folder in
      let connection = try RelatedData.raw(folder)
      let director = "json_extract(films.body,'$.\"directorID\"')"
      // Without the plus sign, the affinity of the key keeps SQLite from using the index on the expression.
      let join = try connection.prepare(
        "SELECT films.id, films.key, films.body FROM people CROSS JOIN films ON \(director) = +people.key "
          + "WHERE json_extract(people.body,'$.\"country\"') = ?1 ORDER BY films.id")
      return { watch in
        try watch.measure {
          try (0..<RelatedData.countries).reduce(0) { sum, number in
            try join.withText("country \(number)") {
              var bodies: [[UInt8]] = []
              while try join.step() { bodies.append(Array(join.text(2))) }
              join.reset()
              return sum + bodies.count
            }
          }
        }
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("condition on a related document", target: 1.5) { folder in
        let store = try RelatedData.store(folder)
        return { watch in
          try watch.measure {
            try (0..<RelatedData.countries).reduce(0) { sum, number in
              let country = Field("directorID").related(in: "people")["country"]
              return try sum + store["films"].find(country == "country \(number)").fetch().count
            }
          }
        }
      }
    ]
  }
}
