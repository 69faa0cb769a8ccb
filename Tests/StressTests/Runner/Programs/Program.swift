// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A random program: a sequence of calls performed on a SQLite store and on a reference store.
struct Program: Sendable {
  var mode: StoreMode
  var calls: [Call]

  /// The collections of programs: one with keys, one with row IDs, and one whose name needs escaping.
  static let collections = ["things", "rows", "it's \"Å\""]

  /// A difference between the two stores.
  struct Difference: Sendable {
    /// The call, or the final check.
    var place: String
    var number: Int
    var expected: String
    var actual: String
  }

  /// - Returns: The first difference; nil if there is none.
  func run() throws -> Difference? {
    let folder = NSTemporaryDirectory() + "nanostore-program-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let subject = try ProgramExecutor(mode, in: folder)
    let reference = try ProgramExecutor(mode, in: folder, following: subject)
    defer {
      subject.close()
      reference.close()
    }
    func difference(_ call: Call, _ place: String, _ number: Int) -> Difference? {
      let actual = subject.perform(call)
      guard !mode.tracksChanges else {
        return actual.isBroken(mustSucceed: call.alwaysSucceeds)
          ? Difference(place: place, number: number, expected: "success", actual: "\(actual)") : nil
      }
      let expected = reference.perform(call)
      guard !expected.agrees(with: actual) else { return nil }
      return Difference(
        place: place, number: number, expected: "\(expected)", actual: "\(actual)")
    }
    for (number, call) in calls.enumerated() {
      if let found = difference(call, call.text, number) { return found }
    }
    return ending.lazy.compactMap {
      difference($0, "at the end, " + $0.text, calls.count)
    }.first
  }

  /// Reads everything after pending saves are written and, for files, again after reopening.
  var ending: [Call] {
    let whole = Self.collections.flatMap { name -> [Call] in
      [.feed(name), .find(name, Query()), .metadataSummary(name), .expirations(name)]
    }
    let bags: [Call] = [.bags(containing: "k1"), .everyBag]
    let checks: [Call] = [.flush(discarding: false), .names] + whole + bags + [.verify]
    return mode.isPersistent ? checks + [.restart] + checks : checks
  }
}

extension Program: CustomStringConvertible {
  var description: String {
    (["on a store with: \(mode)"] + calls.map { "  " + $0.text }).joined(separator: "\n")
  }
}
