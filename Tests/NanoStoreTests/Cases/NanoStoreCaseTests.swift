// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Acceptance cases of NanoStore")
struct NanoStoreCaseTests {
  /// Everything that is not run, by reason. What a case asks for decides, never which case it is.
  static func exclusion(_ one: AcceptanceCase) -> String? {
    for step in one.steps {
      let op = step["op"]?.string ?? ""
      let target = step["target"]?.string ?? ""
      if op == "indexes" || op == "clearIndexes" {
        return "the tables of the original and their six indexes do not exist here"
      }
      if op == "global", step["name"]?.string == "uuid" {
        return "keys are UUIDs of version 7 in lower case, which sort by time"
      }
      let isNil =
        ["statement", "predicate", "store"].contains { step[$0] == .null }
        || (target == "sortDescriptor.init" && step["attribute"] == .null)
        || step["items"]?.array?.contains(.null) == true
      if isNil || step["items"] == .null { return "Swift's types do not let nil be passed there" }
    }
    let objects = one.fields["objects"]?.object ?? [:]
    if objects.contains(where: { ($0.value["invalid"] ?? .null) != .null }) {
      return "Swift's types do not let such an object be passed"
    }
    return nil
  }

  @Test(
    "What the original's own tests and documents say",
    arguments: try AcceptanceCase.all(of: "NanoStore"))
  func holds(one: AcceptanceCase) throws {
    if Self.exclusion(one) != nil { return }
    try NanoStoreCaseRunner(one).run()
  }

  @Test("Nearly every case is run")
  func coverage() throws {
    let all = try AcceptanceCase.all(of: "NanoStore")
    let excluded = all.compactMap { one in Self.exclusion(one).map { (one.id, $0) } }
    for (reason, cases) in Dictionary(grouping: excluded, by: \.1).sorted(by: { $0.key < $1.key }) {
      print("not run, \(cases.count): \(reason): \(cases.map(\.0).joined(separator: " "))")
    }
    print("cases of NanoStore: \(all.count - excluded.count) run, \(excluded.count) not")
    #expect(excluded.count * 5 <= all.count || all.count < 20)
  }
}
