// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Expects each line of Swift code in a document to occur in a test file, which compiles and runs it. The import of old
/// stores is a product of its own, with tests of its own.
func expectCode(ofGuide name: String, in file: String = #filePath) throws {
  let folder = URL(filePath: file).deletingLastPathComponent()
  let files = [
    URL(filePath: file), folder.appending(path: "../NanoLegacyTests/LegacyGuideTests.swift"),
  ]
  let lines = Set(
    try files.flatMap { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
      .map { $0.trimmingCharacters(in: .whitespaces) })
  let document = try String(
    contentsOf: folder.appending(path: "../../docs/\(name)"), encoding: .utf8)
  var isCode = false
  var count = 0
  for line in document.components(separatedBy: "\n") {
    if line.hasPrefix("```") {
      isCode = line == "```swift"
    } else if isCode, !line.isEmpty {
      count += 1
      #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }
  #expect(count > 30)
}
