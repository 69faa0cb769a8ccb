// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Acceptance cases of BNRPersistence")
struct BNRCaseTests {
  @Test(
    "The behavior matches the original's tests, source and documentation",
    arguments: try AcceptanceCase.all(of: "BNRPersistence"))
  func matches(one: AcceptanceCase) throws {
    if Differences.exclusion(one) != nil { return }
    try BNRCaseRunner(one).run()
  }

  @Test("Every case about objects and their store is run")
  func coverage() throws {
    let all = try AcceptanceCase.all(of: "BNRPersistence")
    let excluded = all.compactMap { one in Differences.exclusion(one).map { (one.id, $0) } }
    let played = all.filter { Differences.exclusion($0) == nil }
    let parts = played.flatMap { one in
      Set(Differences.steps(one).compactMap(\.reason)).map { (one.id, $0) }
    }
    list("not run", excluded)
    list("run without some steps", parts)
    print(
      "cases of BNRPersistence: \(played.count) run, \(Set(parts.map(\.0)).count) of them without some "
        + "steps, \(excluded.count) not")
    #expect(excluded.count * 2 <= all.count || all.count < 20)
  }

  @Test("The runner knows every operation of the conventions")
  func operations() throws {
    for operation in try AcceptanceCase.operations(of: "BNRPersistence") {
      do {
        try BNRCaseRunner(.probe(operation)).run()
      } catch let failure as CaseFailure {
        #expect(!failure.isUnknownOperation, "\(operation)")
      }
    }
  }

  @Test(
    "An unknown operation, an unknown expectation and a wrong one fail",
    arguments: [
      #"{"op": "fly"}"#, #"{"op": "hasUnsavedChanges", "expect": {"altitude": null}}"#,
      #"{"op": "hasUnsavedChanges", "expect": {"value": true}}"#,
      #"{"op": "write", "items": [{"uint8": 255}], "expect": {"hex": "fe"}}"#,
      #"{"op": "readHex", "hex": "00000000", "types": ["string"], "expect": {"items": [""]}}"#,
    ])
  func failures(step: String) throws {
    let step = try DocumentObject(json: step, dialect: .plain)
    let one = AcceptanceCase(
      id: "wrong", title: "", fields: ["steps": [.object(step)], "classes": ["Person"]])
    #expect(Differences.exclusion(one) == nil)
    #expect(throws: CaseFailure.self) { try BNRCaseRunner(one).run() }
  }

  private func list(_ what: String, _ cases: [(String, String)]) {
    for (reason, cases) in Dictionary(grouping: cases, by: \.1).sorted(by: { $0.key < $1.key }) {
      print("\(what), \(cases.count): \(reason): \(cases.map(\.0).joined(separator: " "))")
    }
  }
}
