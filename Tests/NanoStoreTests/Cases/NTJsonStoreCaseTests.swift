// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Acceptance cases of NTJsonStore")
struct NTJsonStoreCaseTests {
  /// Everything that is not run, by reason. What a case asks for decides, never which case it is.
  static func exclusion(_ one: AcceptanceCase) -> String? {
    for step in one.steps {
      if step["op"] == "lastError" || step["expect"]?["lastError"] != nil {
        return "errors are thrown by the call that fails, and kept nowhere"
      }
    }
    return nil
  }

  @Test(
    "What the original's own tests, source and documents say",
    arguments: try AcceptanceCase.all(of: "NTJsonStore"))
  func holds(one: AcceptanceCase) throws {
    if Self.exclusion(one) != nil { return }
    try NTJsonStoreCaseRunner(one).run()
  }

  @Test("Nearly every case is run")
  func coverage() throws {
    let all = try AcceptanceCase.all(of: "NTJsonStore")
    let excluded = all.compactMap { one in Self.exclusion(one).map { (one.id, $0) } }
    for (reason, cases) in Dictionary(grouping: excluded, by: \.1).sorted(by: { $0.key < $1.key }) {
      print("not run, \(cases.count): \(reason): \(cases.map(\.0).joined(separator: " "))")
    }
    print("cases of NTJsonStore: \(all.count - excluded.count) run, \(excluded.count) not")
    #expect(excluded.count * 10 <= all.count || all.count < 20)
  }
}
