// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// The collection of the sample ``DamageSamples/Kind/tuned``, whose indexes the store created automatically.
enum DamageTuning {
  static let collection = "large"
  /// Twice the number from which on the store creates indexes automatically.
  private static let documents = 2_000

  static func fill(_ store: Store) throws {
    let large = store[collection]
    try large.insert(
      (0..<documents).map { number in
        [
          "n": .int(Int64(number * 7 % documents)),
          "tags": .array([.string("t\(number % 400)"), .string("u\(number % 300)")]),
          "text": .string(String(repeating: "word\(number % 10) ", count: 6)),
        ]
      })
    // The number of rounds depends on the speed of the machine.
    for _ in 0..<1_000 {
      try query(store, count: 20)
      try store.finishIndexTuning()
      let indexes = try large.indexes().filter { $0.origin == .adaptive }
      if indexes.contains(where: { $0.kind == .fields }),
        indexes.contains(where: { $0.kind == .elements })
      {
        return
      }
    }
    throw StressTestFailure("no indexes were created automatically")
  }

  private static func query(_ store: Store, count: Int) throws {
    for number in 0..<count {
      _ = try store[collection].find(Field("n") == .int(Int64(number * 31 % documents))).count()
      _ = try store[collection].find(Field("tags") == .string("t\(number % 400)")).count()
    }
  }

  static let contents = [
    DamageUse.Operation("adaptive indexes") { store in
      try store[collection].indexes().map { "\($0.name) \($0.origin) \($0.reason ?? "")" }
        .joined(separator: "\n")
    }
  ]

  static let derived: [DamageUse.Derived] = [
    ("adaptive", collection, Field("n") == 77),
    ("adaptive elements", collection, Field("tags") == "t33"),
    ("adaptive range", collection, Field("n") >= 100 && Field("n") < 110),
  ]

  static let others = [
    DamageUse.Operation("index advice") { "\(try $0.indexAdvice().count)" },
    DamageUse.Operation("index uses") { "\(try $0.indexUses(in: collection).count)" },
    DamageUse.Operation("tuning") { store in
      try query(store, count: 10)
      try store.finishIndexTuning()
      return "\(try store.applyIndexAdvice().count)"
    },
  ]
}
