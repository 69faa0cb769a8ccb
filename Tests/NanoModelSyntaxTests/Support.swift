// SPDX-License-Identifier: MIT

import SwiftBasicFormat
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
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

/// Expects a source to expand without diagnostics to a source that differs at most in its spaces, line breaks and
/// comments: the macros do not format what they generate.
func expectExpansion(
  _ source: String, _ expanded: String, location: Testing.SourceLocation = #_sourceLocation
) {
  let found = Diagnosis(source)
  #expect(found.messages == [], sourceLocation: location)
  #expect(formatted(found.expanded) == formatted(expanded), sourceLocation: location)
}

private func formatted(_ source: String) -> String {
  SpaceRemover().rewrite(Parser.parse(source: source))
    .formatted(using: BasicFormat(indentationWidth: .spaces(2))).description
}

private final class SpaceRemover: SyntaxRewriter {
  override func visit(_ token: TokenSyntax) -> TokenSyntax {
    token.with(\.leadingTrivia, []).with(\.trailingTrivia, [])
  }
}

/// A source with its diagnostics.
struct Diagnosis {
  /// The source with an arrow before the location of each diagnostic.
  let marked: String
  let messages: [String]
  /// All fix-its, each with the resulting source.
  let fixes: [String: String]
  /// The expanded source.
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

/// Expects the diagnostics and fix-its of a source.
///
/// - Parameters:
///   - marked: The source, with an arrow before the location of each diagnostic.
///   - messages: The messages, in the order of their locations.
///   - fixes: Every fix-it with the resulting source.
func expectProblem(
  _ marked: String, _ messages: String..., fixes: [String: String] = [:],
  location: Testing.SourceLocation = #_sourceLocation
) {
  let found = Diagnosis(marked.replacing("→", with: ""))
  #expect(found.messages == messages, sourceLocation: location)
  #expect(found.marked == marked, sourceLocation: location)
  #expect(found.fixes == fixes, sourceLocation: location)
}

/// Expects a source to have no diagnostics.
func expectNoProblem(
  _ source: String, location: Testing.SourceLocation = #_sourceLocation
) {
  let found = Diagnosis(source)
  #expect(found.messages == [], sourceLocation: location)
  #expect(found.expanded.contains("_$unknownFields"), sourceLocation: location)
}
