// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// Generates rounds that are the same for the same seed, so that a killed process and its supervisor agree on their
/// changes.
struct RoundPlan: Sendable {
  let seed: UInt64
  /// The maximum number of documents that one round saves.
  var batch = 20
  /// The length of the largest strings in bytes.
  var largest = 9_000

  static let people = "people"
  static let things = "things"
  static let notes = "notes"
  static let collections = [people, things, notes]

  func round(_ number: Int) -> Round {
    var random = SplitMix(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
    let count = random.oneIn(6) ? batch : random.number(1...4)
    var changes: [Change] = []
    for _ in 0..<count { changes.append(change(number, &random)) }
    return Round(number: number, changes: changes)
  }

  private func change(_ number: Int, _ random: inout SplitMix) -> Change {
    let collection = random.pick(Self.collections)
    let key = key(&random)
    switch random.number(1...20) {
    case 1...9: return .save(collection, key: key, document(key, number, &random))
    case 10...11:
      return .update(collection, key: key, field: "n", .int(Int64(number)))
    case 12: return .update(collection, key: key, field: "tags", tags(&random))
    case 13...14: return .remove(collection, key: key)
    case 15: return .removeGroup(collection, Int64(random.number(0...11)))
    case 16: return .refused(Self.people, name: key)
    case 17:
      return .fillBag(
        random.pick(["favorites", "others"]), (0..<4).map { _ in self.key(&random) })
    case 18:
      return random.oneIn(5)
        ? .emptyBag("others") : .metadata("entry\(random.number(1...3))", .int(Int64(number)))
    case 19: return .metadata("entry\(random.number(1...3))", nil)
    default:
      return random.oneIn(8)
        ? .drop(Self.notes) : .save(Self.notes, key: key, document(key, number, &random))
    }
  }

  private func key(_ random: inout SplitMix) -> String { "k\(random.number(1...60))" }

  private func tags(_ random: inout SplitMix) -> DocumentValue {
    .array((0..<random.number(0...3)).map { _ in .string(random.pick(["a", "b", "c", "d"])) })
  }

  static let words = ["winter", "sonata", "red", "night", "river", "étude", "snow"]

  private func document(_ key: String, _ number: Int, _ random: inout SplitMix) -> DocumentObject {
    var object: DocumentObject = [
      "name": .string(key), "n": .int(Int64(number)), "group": .int(Int64(random.number(0...11))),
      "tags": tags(&random),
      "title": .string((0..<3).map { _ in random.pick(Self.words) }.joined(separator: " ")),
    ]
    // A path that is not in the catalog yet.
    if random.oneIn(8) {
      object["more"] = ["p\(random.number(1...200))": [.int(1), ["deep": .double(0.5)]]]
    }
    if random.oneIn(8) {
      object["large"] = .string(String(repeating: "x", count: random.number(1_000...largest)))
    }
    return object
  }
}
