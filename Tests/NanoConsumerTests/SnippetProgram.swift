// SPDX-License-Identifier: MIT

import Foundation

/// The Swift snippets of a document as one file.
///
/// The file is one `async` function. Each snippet is nested in the scope of the previous one, so that it can use and
/// redeclare its variables. `Snippets/<name of the document>.swift` has the declarations that the snippets of a
/// document require.
struct SnippetProgram {
  let text: String
  /// The number of snippets.
  let count: Int

  init(document: URL, assumptions: URL) throws {
    let snippets = try Self.snippets(of: document)
    var assumed = Code(location: nil)
    if FileManager.default.fileExists(atPath: assumptions.path) {
      assumed = try Code(
        lines: String(contentsOf: assumptions, encoding: .utf8).components(separatedBy: "\n"),
        first: 1, of: assumptions)
    }
    count = snippets.count
    text = Self.program(assumed, snippets)
  }

  /// Returns the fenced code blocks marked as Swift.
  private static func snippets(of document: URL) throws -> [Code] {
    let lines = try String(contentsOf: document, encoding: .utf8).components(separatedBy: "\n")
    var snippets: [Code] = []
    var start: Int?
    var isFenced = false
    for (index, line) in lines.enumerated() where line.hasPrefix("```") {
      if let begin = start {
        snippets.append(Code(lines: Array(lines[begin..<index]), first: begin + 1, of: document))
      }
      isFenced.toggle()
      start = isFenced && line == "```swift" ? index + 1 : nil
    }
    return snippets
  }

  private static func program(_ assumed: Code, _ snippets: [Code]) -> String {
    var parts: [[Code]] = [[]]
    for snippet in snippets {
      // A type declared again under the same name is a later version of it and starts a new program.
      let names = Set(parts[parts.count - 1].flatMap(\.types))
      if names.isDisjoint(with: snippet.types) {
        parts[parts.count - 1].append(snippet)
      } else {
        parts.append([snippet])
      }
    }
    var text = Set((snippets + [assumed]).flatMap(\.imports)).sorted().joined(separator: "\n")
    text += "\n\nprivate enum Snippets {\n" + assumed.declarations
    for (number, part) in parts.enumerated() {
      text += "enum Part\(number) {\n" + part.map(\.declarations).joined()
      text += "static func run() async throws {\n" + assumed.statements
      text += part.map { "do {\n" + $0.statements }.joined()
      text += String(repeating: "}\n", count: part.count) + "}\n}\n"
    }
    return text + "}\n"
  }
}

/// Lines of Swift, grouped by where they belong in a program.
private struct Code {
  private(set) var imports: [String] = []
  private(set) var types: [String] = []
  private(set) var declarations = ""
  private(set) var statements = ""
  private let location: URL?

  init(location: URL?) { self.location = location }

  init(lines: [String], first: Int, of location: URL) {
    self.location = location
    var index = 0
    while index < lines.count {
      let line = lines[index]
      var end = index + 1
      if line.firstMatch(of: /^(?:@testable )?import \w+/) != nil {
        imports.append(line)
      } else if let name = Self.type(at: index, in: lines) {
        // One line after attributes, or everything up to a closing brace in the first column.
        let head = Self.isAttribute(line) ? index + 1 : index
        end = lines[head].hasSuffix("}") ? head : lines[head...].firstIndex(of: "}") ?? head
        end += 1
        types.append(name)
        declarations += block(lines[index..<end], first + index)
      } else {
        while end < lines.count, !Self.isSeparate(end, in: lines) { end += 1 }
        statements += block(lines[index..<end], first + index)
      }
      index = end
    }
  }

  private static func isSeparate(_ index: Int, in lines: [String]) -> Bool {
    lines[index].hasPrefix("import ") || type(at: index, in: lines) != nil
  }

  private static func isAttribute(_ line: String) -> Bool {
    line.firstMatch(of: /^@\w+(\((?:[^()]|\([^()]*\))*\))?$/) != nil
  }

  /// Returns the name of the type declared on a line, or on the next line after an attribute.
  private static func type(at index: Int, in lines: [String]) -> String? {
    var line = lines[index]
    if isAttribute(line), index + 1 < lines.count { line += " " + lines[index + 1] }
    let pattern =
      #/
      ^(?:@\w+(?:\((?:[^()]|\([^()]*\))*\))?\ )*(?:final\ )?
      (?:struct|class|enum|actor|protocol)\ (\w+)
      /#
    return line.firstMatch(of: pattern).map { String($0.1) }
  }

  /// Returns the lines with a `#sourceLocation`, so that diagnostics refer to the document.
  private func block(_ lines: ArraySlice<String>, _ first: Int) -> String {
    """
    #sourceLocation(file: "\(location?.path ?? "")", line: \(first))
    \(lines.joined(separator: "\n"))
    #sourceLocation()

    """
  }
}
