// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// The documents that are synchronized.
enum Sample {
  static let collection = "films"

  static func key(_ number: Int) -> String { String(format: "film%08d", number) }

  static func film(_ number: Int, plays: Int = 0) -> DocumentObject {
    [
      "title": .string("Film number \(number)"), "year": .int(Int64(1920 + number % 100)),
      "rating": .double(Double(number % 97) / 10), "genres": ["drama", "science fiction"],
      "director": ["first": "Ridley", "last": .string("Scott \(number % 1000)")],
      "plays": .int(Int64(plays)),
      "text": .string(String(repeating: "lorem ipsum ", count: 6)), "seen": false,
    ]
  }

  static let bytes = film(50_000).jsonString().utf8.count

  static func fill(_ store: Store, _ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      try await store[collection].insert(
        (start..<min(start + 10_000, count)).map { try Document(film($0), key: key($0)) })
    }
  }
}
