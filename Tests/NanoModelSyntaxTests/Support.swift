// SPDX-License-Identifier: MIT

import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import NanoModelSyntax

private enum ModelMacro: ModelMacroImplementation {}
private enum PropertyMarker: PropertyMarkerImplementation {}
private enum Relationship: RelationshipImplementation {}

private let macros: [String: MacroSpec] = [
  "Model": MacroSpec(
    type: ModelMacro.self, conformances: ["NanoStoreModels.Model", "Swift.CustomReflectable"]),
  "Field": MacroSpec(type: PropertyMarker.self),
  "Transient": MacroSpec(type: PropertyMarker.self),
  "Indexed": MacroSpec(type: PropertyMarker.self),
  "Unique": MacroSpec(type: PropertyMarker.self),
  "TextIndexed": MacroSpec(type: PropertyMarker.self),
  "Key": MacroSpec(type: PropertyMarker.self),
  "Relationship": MacroSpec(type: Relationship.self),
  "Inverse": MacroSpec(type: Relationship.self),
]

/// What a source becomes, without any problem.
func expectExpansion(
  _ source: String, _ expanded: String, fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
  assertMacroExpansion(
    source, expandedSource: expanded, macroSpecs: macros, indentationWidth: .spaces(2),
    failureHandler: { failure in
      Issue.record(
        Comment(rawValue: failure.message),
        sourceLocation: SourceLocation(
          fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column)))
    },
    fileID: fileID, filePath: filePath, line: line, column: column)
}

/// A source with the problems that are found in it.
struct Diagnosis {
  /// The source with an arrow before each place where a problem is.
  let marked: String
  let messages: [String]
  /// All changes that are offered, each with the source after it alone.
  let fixes: [String: String]
  /// What the source becomes.
  let expanded: String

  init(_ source: String) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")])
    expanded =
      file.expand(
        macroSpecs: macros,
        contextGenerator: {
          BasicMacroExpansionContext(
            sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(2)
      ).description
    func offset(_ position: AbsolutePosition, _ node: some SyntaxProtocol) -> Int {
      context.location(for: position, anchoredAt: Syntax(node), fileName: "").offset
    }
    let found = context.diagnostics.map { (offset($0.position, $0.node), $0) }
      .sorted { $0.0 < $1.0 }
    messages = found.map { $0.1.message }
    var marked = Array(source.utf8)
    for place in Set(found.map(\.0)).sorted(by: >) {
      marked.insert(contentsOf: Array("→".utf8), at: place)
    }
    self.marked = String(decoding: marked, as: UTF8.self)
    var fixes: [String: String] = [:]
    for fix in found.flatMap({ $0.1.fixIts }) {
      var fixed = Array(source.utf8)
      for case .replace(let old, let new) in fix.changes {
        fixed.replaceSubrange(
          offset(old.position, old)..<offset(old.endPosition, old), with: Array("\(new)".utf8))
      }
      fixes[fix.message.message] = String(decoding: fixed, as: UTF8.self)
    }
    self.fixes = fixes
  }
}

/// What is wrong in a source, and what mends it.
///
/// - Parameters:
///   - marked: The source, with an arrow before each place where a problem is.
///   - messages: The problems, in the order of their places.
///   - fixes: Every change that is offered, with the source that it makes.
func expectProblem(
  _ marked: String, _ messages: String..., fixes: [String: String] = [:],
  location: Testing.SourceLocation = #_sourceLocation
) {
  let found = Diagnosis(marked.replacing("→", with: ""))
  #expect(found.messages == messages, sourceLocation: location)
  #expect(found.marked == marked, sourceLocation: location)
  #expect(found.fixes == fixes, sourceLocation: location)
}

/// That nothing is wrong in a source.
func expectNoProblem(
  _ source: String, location: Testing.SourceLocation = #_sourceLocation
) {
  let found = Diagnosis(source)
  #expect(found.messages == [], sourceLocation: location)
  #expect(found.expanded.contains("_$unknownFields"), sourceLocation: location)
}
