// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Acceptance cases of NanoStore")
struct NanoStoreCaseTests {
  @Test(
    "The behavior in the original's tests and documentation holds",
    arguments: try AcceptanceCase.all(of: "NanoStore"))
  func holds(testCase: AcceptanceCase) throws {
    if NanoStoreDifferences.exclusion(testCase) != nil { return }
    try NanoStoreCaseRunner(testCase).run()
  }

  @Test("The runner knows every operation of the conventions")
  func operations() throws {
    for operation in try AcceptanceCase.operations(of: "NanoStore") {
      do {
        try NanoStoreCaseRunner(.probe(operation)).run()
      } catch let failure as CaseFailure {
        #expect(!failure.isUnknownOperation, "\(operation)")
      }
    }
  }

  @Test(
    "An unknown operation, an unknown expectation and a wrong one fail",
    arguments: [
      #"{"op": "fly"}"#, #"{"op": "bagFly", "bag": "b"}"#,
      #"{"op": "search", "expect": {"altitude": null}}"#,
      #"{"op": "search", "expect": {"count": 1}}"#,
      #"{"op": "maxRowId", "table": "documents", "expect": {"value": 1}}"#,
      #"{"op": "close", "expect": {"error": "closed"}}"#,
    ])
  func failures(step: String) throws {
    let step = try DocumentObject(json: step, dialect: .plain)
    let one = AcceptanceCase(
      id: "wrong", title: "", fields: ["steps": [.object(step)], "bags": ["b": [:]]])
    #expect(NanoStoreDifferences.exclusion(one) == nil)
    #expect(throws: CaseFailure.self) { try NanoStoreCaseRunner(one).run() }
  }

  @Test("Nearly all cases run")
  func coverage() throws {
    let all = try AcceptanceCase.all(of: "NanoStore")
    let excluded = all.compactMap { testCase in
      NanoStoreDifferences.exclusion(testCase).map { (testCase.id, $0) }
    }
    for (reason, cases) in Dictionary(grouping: excluded, by: \.1).sorted(by: { $0.key < $1.key }) {
      print("skipped \(cases.count): \(reason): \(cases.map(\.0).joined(separator: " "))")
    }
    let played = all.filter { NanoStoreDifferences.exclusion($0) == nil }
    let parts = played.flatMap { testCase in
      Set(testCase.steps.compactMap { NanoStoreDifferences.reason($0, testCase) })
        .map { (testCase.id, $0) }
    }
    for (reason, cases) in Dictionary(grouping: parts, by: \.1).sorted(by: { $0.key < $1.key }) {
      print(
        "run without some steps, \(cases.count): \(reason): "
          + cases.map(\.0).joined(separator: " "))
    }
    print("NanoStore cases: \(played.count) run, \(excluded.count) skipped")
    #expect(excluded.count * 5 <= all.count || all.count < 20)
  }
}
