// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Expects each line of Swift code in a document to occur in a test file, which compiles and runs it.
func expectCode(ofGuide name: String, in file: String = #filePath) throws {
  let folder = URL(filePath: file).deletingLastPathComponent()
  let lines = Set(
    try String(contentsOf: URL(filePath: file), encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) })
  let document = try String(
    contentsOf: folder.appending(path: "../../docs/\(name)"), encoding: .utf8)
  var isCode = false
  var count = 0
  for line in document.components(separatedBy: "\n") {
    if line.hasPrefix("```") {
      isCode = line == "```swift"
    } else if isCode {
      count += 1
      #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }
  #expect(count > 30)
}
