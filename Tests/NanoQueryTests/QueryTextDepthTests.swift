// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Query text: depth and length")
struct QueryTextDepthTests {
  static let nested: [(String, String, String)] = [
    ("(", "1", ")"), ("NOT ", "[a]", ""), ("- ", "[a]", ""), ("~", "[a]", ""), ("+", "1", ""),
    ("abs(", "1", ")"), ("CASE WHEN 1 THEN ", "2", " END"), ("1 = (", "1", ")"),
    ("CASE ", "1", " WHEN 1 THEN 1 WHEN 2 THEN 2 END"), ("1 IN (", "1", ")"),
    ("CAST(", "1", " AS TEXT)"), ("ELEMENT([a], ", "1", ")"), ("1 BETWEEN ", "1", " AND 2"),
    ("CASE WHEN ", "1", " THEN 1 END"), ("1 LIKE (", "1", ")"), ("json_array(", "1", ")"),
    ("", "1", " + 1"), ("", "1", " = 1"), ("", "1", " IS NULL"), ("(", "1", " OR 2) AND 3"),
    ("1 AND (2 OR ", "1", ")"), ("1 + (2 * ", "3", ")"), ("(((", "1", "",),
  ]

  @Test("Text nested too deeply is rejected, also on a small stack", arguments: nested)
  func depth(open: String, middle: String, close: String) throws {
    for count in [10, 30, 40, 62, 63, 64, 65, 130, 5000, 20_000] {
      let text =
        String(repeating: open, count: count) + middle + String(repeating: close, count: count)
      let error = onThread(stackSize: smallStack) { () -> StoreError? in
        do throws(StoreError) {
          let query = try QueryText(text)
          #expect(try QueryText(query.description) == query)
          _ = query.condition.fields.count
          _ = query.hashValue
          _ = try? query.query([])
          return nil
        } catch { return error }
      }
      if count >= 5000 || open == "(((" { #expect(error?.code == .invalidQuery) }
      if count <= 30 && open != "CASE " && open != "(((" { #expect(error == nil) }
    }
  }
}
