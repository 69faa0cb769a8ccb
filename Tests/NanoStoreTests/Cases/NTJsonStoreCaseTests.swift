// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Acceptance cases of NTJsonStore")
struct NTJsonStoreCaseTests {
  /// Returns the reason for skipping a case, or nil. The reason depends on what the case requires, never
  /// on its ID.
  static func exclusion(_ testCase: AcceptanceCase) -> String? {
    for step in testCase.steps {
      if step["op"] == "lastError" || step["expect"]?["lastError"] != nil {
        return "errors are thrown by the failing call and not stored"
      }
    }
    return nil
  }

  @Test(
    "The behavior in the original's tests, source, and documentation holds",
    arguments: try AcceptanceCase.all(of: "NTJsonStore"))
  func holds(testCase: AcceptanceCase) throws {
    if Self.exclusion(testCase) != nil { return }
    try NTJsonStoreCaseRunner(testCase).run()
  }

  @Test("The runner knows every operation of the conventions")
  func operations() throws {
    for operation in try AcceptanceCase.operations(of: "NTJsonStore") {
      do {
        try NTJsonStoreCaseRunner(.probe(operation)).run()
      } catch let failure as CaseFailure {
        #expect(!failure.isUnknownOperation, "\(operation)")
      }
    }
  }

  @Test(
    "An unknown operation, an unknown expectation and a wrong one fail",
    arguments: [
      #"{"op": "fly"}"#, #"{"op": "asyncFly"}"#, #"{"op": "count", "expect": {"altitude": null}}"#,
      #"{"op": "count", "expect": {"value": 1}}"#,
      #"{"op": "asyncInsert", "json": {"n": 1}, "expect": {"rowid": 2}}"#,
      #"{"op": "asyncSequence", "steps": [{"op": "fly"}]}"#,
      #"{"op": "findOne", "expect": {"n": 1}}"#,
    ])
  func failures(step: String) throws {
    let step = try DocumentObject(json: step, dialect: .plain)
    let one = AcceptanceCase(id: "wrong", title: "", fields: ["steps": [.object(step)]])
    #expect(Self.exclusion(one) == nil)
    #expect(throws: CaseFailure.self) { try NTJsonStoreCaseRunner(one).run() }
  }

  @Test("Nearly all cases run")
  func coverage() throws {
    let all = try AcceptanceCase.all(of: "NTJsonStore")
    let excluded = all.compactMap { testCase in Self.exclusion(testCase).map { (testCase.id, $0) } }
    for (reason, cases) in Dictionary(grouping: excluded, by: \.1).sorted(by: { $0.key < $1.key }) {
      print("skipped \(cases.count): \(reason): \(cases.map(\.0).joined(separator: " "))")
    }
    print("NTJsonStore cases: \(all.count - excluded.count) run, \(excluded.count) skipped")
    #expect(excluded.count * 10 <= all.count || all.count < 20)
  }
}
