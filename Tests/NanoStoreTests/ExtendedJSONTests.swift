// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Table in docs/EXTENDED-JSON.md")
struct ExtendedJSONTests {
  /// A row of the table.
  private struct Form: CustomStringConvertible {
    let type: String
    let text: String
    let outcome: String
    let exported: String
    var description: String { type }

    static func all() throws -> [Form] {
      let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/EXTENDED-JSON.md")
      return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        .filter { $0.hasPrefix("| ") }.dropFirst().map { line in
          let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            .dropFirst().dropLast().map {
              $0.replacing("`", with: "").trimmingCharacters(in: .whitespaces)
            }
          return Form(type: cells[0], text: cells[1], outcome: cells[2], exported: cells[3])
        }
    }
  }

  private func outcome(_ value: DocumentValue) -> String {
    switch value {
    case .null: "null"
    case .string: "text"
    case .int: "integer"
    case .double: "double"
    case .decimal: "decimal"
    case .date: "date"
    case .data: "data"
    case .url: "url"
    case .bool, .array: "not in the table"
    case .object: "object"
    }
  }

  @Test(
    "Each form is stored, exported, or rejected as documented, and every export is read back exactly"
  )
  func table() throws {
    let forms = try Form.all()
    #expect(forms.count > 30)
    let collection = try anyStore()["c"]
    for form in forms {
      let json = #"{"outer":[{"x":"# + form.text + "}]}"
      guard form.outcome != "refused" else {
        let failure = error { try collection.insert(json: json) }
        #expect(failure?.code == .invalidJSON, "\(form)")
        #expect(failure?[.field] == "outer.0.x", "\(form)")
        #expect(failure?[.byteOffset] != nil && failure?[.expected] != nil, "\(form)")
        continue
      }
      let document = try collection.insert(json: json)
      let rowID = try #require(document.rowID)
      let stored = try #require(try collection.get(rowID: rowID))
      let value = try #require(stored["outer.0.x"])
      #expect(outcome(value) == form.outcome, "\(form)")
      #expect(value.jsonString() == form.exported, "\(form)")
      #expect(try DocumentValue(json: form.exported) == value, "\(form)")
      if form.outcome == "object" {
        // The value keeps the names of its plain JSON text, with `$$` unescaped.
        let plain = try DocumentValue(json: form.text, dialect: .plain)
        #expect(
          value.object?.names
            == plain.object?.names.map { $0.hasPrefix("$$") ? String($0.dropFirst()) : $0 })
      }
    }
  }
}
