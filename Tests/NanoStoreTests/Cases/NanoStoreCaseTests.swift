// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Acceptance cases of NanoStore")
struct NanoStoreCaseTests {
  /// Returns the reason for skipping a case, or nil. The reason depends on what the case requires, never
  /// on its ID.
  static func exclusion(_ testCase: AcceptanceCase) -> String? {
    for step in testCase.steps {
      let op = step["op"]?.string ?? ""
      let target = step["target"]?.string ?? ""
      if op == "indexes" || op == "clearIndexes" {
        return "this store has neither the original's tables nor their six indexes"
      }
      if op == "global", step["name"]?.string == "uuid" {
        return "keys are lowercase version 7 UUIDs, which sort by time"
      }
      let isNil =
        ["statement", "predicate", "store"].contains { step[$0] == .null }
        || (target == "sortDescriptor.init" && step["attribute"] == .null)
        || step["items"]?.array?.contains(.null) == true
      if isNil || step["items"] == .null {
        return "Swift's types do not accept nil here"
      }
    }
    let objects = testCase.fields["objects"]?.object ?? [:]
    if objects.contains(where: { ($0.value["invalid"] ?? .null) != .null }) {
      return "Swift's types do not accept such an object"
    }
    return nil
  }

  @Test(
    "The behavior in the original's tests and documentation holds",
    arguments: try AcceptanceCase.all(of: "NanoStore"))
  func holds(testCase: AcceptanceCase) throws {
    if Self.exclusion(testCase) != nil { return }
    try NanoStoreCaseRunner(testCase).run()
  }

  @Test("Nearly all cases run")
  func coverage() throws {
    let all = try AcceptanceCase.all(of: "NanoStore")
    let excluded = all.compactMap { testCase in Self.exclusion(testCase).map { (testCase.id, $0) } }
    for (reason, cases) in Dictionary(grouping: excluded, by: \.1).sorted(by: { $0.key < $1.key }) {
      print("skipped \(cases.count): \(reason): \(cases.map(\.0).joined(separator: " "))")
    }
    print("NanoStore cases: \(all.count - excluded.count) run, \(excluded.count) skipped")
    #expect(excluded.count * 5 <= all.count || all.count < 20)
  }
}
