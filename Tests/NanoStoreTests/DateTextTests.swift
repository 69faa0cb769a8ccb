// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Dates as text in queries")
struct DateTextTests {
  private static let dates: [Date] = {
    var random = SystemRandomNumberGenerator()
    let milliseconds = (0..<100).map { _ in
      Int.random(in: -2_000_000_000_000...4_000_000_000_000, using: &random)
    }
    return milliseconds.map { number in
      let (seconds, rest) = (number / 1000, number % 1000)
      return Date(timeIntervalSinceReferenceDate: Double(seconds) + Double(rest) / 1000)
    } + [
      Date(timeIntervalSince1970: 86.4), Date(timeIntervalSinceReferenceDate: -0.25),
      Date(timeIntervalSinceReferenceDate: 1e9 / 7), Date(timeIntervalSinceReferenceDate: 1e-9),
    ]
  }()

  @Test(
    "A date matches its exported text, with and without an index",
    arguments: ["", "elements", "fields", "everything"])
  func found(by index: String) throws {
    let dates = try anyStore()["dates"]
    try dates.insert(
      Self.dates.enumerated().map { ["n": .int(Int64($0)), "a": .date($1)] })
    switch index {
    case "fields": try dates.createIndex("a")
    case "elements": try dates.createIndex("a", elements: true)
    case "everything": try dates.setIndexing(.everything)
    default: break
    }
    for (number, date) in Self.dates.enumerated() {
      let text = String(DocumentValue.date(date).jsonString(dialect: .plain).dropFirst().dropLast())
      for condition in [
        "[a] || '' = ?1", "CAST([a] AS TEXT) = ?1", "substr([a], 1) = ?1", "lower([a]) = lower(?1)",
        "concat([a]) = ?1 AND [a] = [a]", "length([a]) = length(?1) AND instr([a], ?1) = 1",
      ] {
        let found = try dates.find(condition, text).fetch().compactMap { $0["n"]?.int }
        #expect(found == [number], "\(condition) \(text)")
      }
      let second = try #require(Double(text.dropFirst(17).dropLast()))
      let found = try dates.find("[n] = ? AND second([a]) = ?", number, second)
      #expect(try found.count() == 1, "\(text)")
    }
  }
}
