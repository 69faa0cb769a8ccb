// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

/// The documents of every scenario, which are deterministic: members of a club, each in about 210 bytes of JSON.
final class MemberSet {
  let documents: [Document]
  let keys: [String]

  init(count: Int) throws {
    keys = (0..<count).map { UUID(version7: $0).uuidString.lowercased() }
    documents = try keys.enumerated().map { number, key in
      try Document(Self.member(number), key: key)
    }
  }

  /// The minimum number of documents for meaningful scenarios.
  static let minimumCount = 1_000
  /// The number of documents in a batch write.
  static let batch = 10_000

  var count: Int { documents.count }

  func batches(_ documents: some Collection<Document>) -> [[Document]] {
    var rest = Array(documents)[...]
    var batches: [[Document]] = []
    while !rest.isEmpty {
      batches.append(Array(rest.prefix(Self.batch)))
      rest = rest.dropFirst(Self.batch)
    }
    return batches
  }

  /// A thousand, so that a city selects a thousandth.
  static let cities = Names.last
  /// A tag selects a sixty-sixth.
  static let tags = Array(Names.words.prefix(200))
  /// Two of these words select about one document of seventy.
  static let words = Array(Names.words.suffix(100))

  private static func member(_ number: Int) -> DocumentObject {
    var random = SplitMix(seed: UInt64(number) &* 0x2545_F491_4F6C_DD1D &+ 7)
    let name = random.pick(Names.first) + " " + random.pick(Names.last)
    let tags = (0..<3).map { _ in DocumentValue.string(random.pick(Self.tags)) }
    let bio = (0..<13).map { _ in random.pick(words) }.joined(separator: " ")
    return [
      "name": .string(name), "age": .int(Int64(18 + random.below(70))),
      "city": .string(random.pick(cities)), "tags": .array(tags),
      "score": .double(Double(random.below(1_000_000)) / 1_000),
      "active": .bool(random.below(2) == 0), "bio": .string(bio),
    ]
  }
}
