// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import Testing

/// Compares the declarations of the contract with its tables, and with the wrappers that forward its calls.
@Suite("The source of the engine contract")
struct ContractSourceTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  private static func text(_ folders: [String]) throws -> String {
    try folders.flatMap { folder in
      let url = sources.appending(path: folder)
      return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
        .filter { $0.hasSuffix(".swift") }
        .map { try String(contentsOf: url.appending(path: $0), encoding: .utf8) }
    }.joined(separator: "\n")
  }

  /// A requirement of a protocol: its name with labels, and its documentation.
  private struct Requirement {
    let name: String
    let comment: String
  }

  /// Returns the functions that a text declares, with the comments before them.
  private static func functions(_ text: String) -> [Requirement] {
    var found: [Requirement] = []
    var comment = ""
    let lines = text.components(separatedBy: "\n")
    for (index, line) in lines.enumerated() {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.hasPrefix("///") {
        comment += line.dropFirst(3) + "\n"
        continue
      }
      if line.hasPrefix("@") { continue }
      if let match = line.firstMatch(
        of: #/^(?:package |override |mutating )*func (\w+)(?:<\w+>)?\(/#)
      {
        let rest = lines[index...].joined(separator: " ").trimmingCharacters(in: .whitespaces)
        found.append(Requirement(name: match.1 + labels(rest), comment: comment))
      }
      comment = ""
    }
    return found
  }

  /// Returns the labels of a declaration, such as `(_:in:)`.
  private static func labels(_ declaration: String) -> String {
    guard let open = declaration.firstIndex(of: "(") else { return "" }
    var depth = 0
    var names = ""
    var isLabel = true
    var label = ""
    for character in declaration[open...] {
      switch character {
      case "(", "[":
        depth += 1
        if depth == 1 { continue }
      case ")", "]":
        depth -= 1
        if depth == 0 { return "(\(names))" }
      case "," where depth == 1:
        isLabel = true
        label = ""
        continue
      default: break
      }
      guard depth == 1, isLabel else { continue }
      if character == " " || character == ":" {
        guard !label.isEmpty else { continue }
        names += label + ":"
        isLabel = false
      } else {
        label.append(character)
      }
    }
    return ""
  }

  /// The requirements of all roles, without their default implementations.
  private static func requirements() throws -> [Requirement] {
    let parts = try text(["Core/NanoEngine/Contract"]).components(separatedBy: "package protocol ")
    return parts.dropFirst().flatMap { part in
      functions(part.components(separatedBy: "\n}")[0])
    }
  }

  @Test("The tables declare the codes of every call, and of no other")
  func complete() throws {
    let names = Set(try Self.requirements().map(\.name))
    #expect(names.symmetricDifference(DeclaredErrors.all.keys).sorted() == [])
    #expect(names.count > 50)
  }

  @Test("The documentation of a call names the codes that its table declares")
  func documented() throws {
    let groups = Dictionary(grouping: try Self.requirements(), by: \.name)
    for (name, overloads) in groups {
      let comments = overloads.map(\.comment).joined(separator: "\n")
        .components(separatedBy: "- Throws:").dropFirst().joined()
      var codes = Set(comments.matches(of: #/StoreError\/Code\/(\w+)/#).map { String($0.1) })
      for other in comments.matches(of: #/[Tt]he errors of ``([^`]+)``/#) {
        codes.formUnion((DeclaredErrors.all[String(other.1)] ?? []).map(\.rawValue))
      }
      // Those of the environment may be named where they have a particular meaning.
      codes.subtract(DeclaredErrors.environment.map(\.rawValue))
      let declared = (DeclaredErrors.all[name] ?? []).subtracting(DeclaredErrors.environment)
      #expect(codes.sorted() == declared.map(\.rawValue).sorted(), "\(name)")
    }
  }

  @Test(
    "A wrapper forwards every call, also those with a default implementation",
    arguments: [
      ["Core/NanoEngine/Checking"], ["Tools/NanoTesting/FaultInjection"],
      [
        "Engines/NanoEncryption", "Engines/NanoEncryption/Blobs",
        "Engines/NanoEncryption/Documents",
        "Engines/NanoEncryption/Queries", "Engines/NanoEncryption/Keys",
      ],
    ])
  func forwarded(wrapper: [String]) throws {
    let text = try Self.text(wrapper)
    let implemented = Set(Self.functions(text).map(\.name))
    // Only an engine with SQL has these.
    let sql: Set = ["sql(_:_:allowsWrites:_:)", "tables()", "explain(sql:)"]
    let required = try Set(Self.requirements().map(\.name))
      .subtracting(wrapper.count == 1 && wrapper[0].hasSuffix("Checking") ? [] : sql)
    #expect(required.subtracting(implemented).sorted() == [])
    #expect(text.contains("var preferredBatchSize: Int {"))
  }
}
