// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// A path in documents: names, and array elements in between.
struct SurveyPath: Hashable {
  /// Names by their bytes; nil for the elements of an array.
  private(set) var steps: [ExactName?]

  init(_ steps: [ExactName?] = []) { self.steps = steps }

  func appending(_ step: ExactName?) -> SurveyPath { SurveyPath(steps + [step]) }

  /// The names without array elements, which queries traverse.
  var names: [String] { steps.compactMap { $0?.text } }

  /// The path as people read it, such as `friends[].name`.
  var text: String {
    var text = ""
    for step in steps {
      if let name = step?.text {
        if !text.isEmpty { text += "." }
        text += Self.quotedIfNeeded(name)
      } else {
        text += "[]"
      }
    }
    return text
  }

  /// The path as queries name it; nil for a path that they cannot name.
  var field: FieldPath? {
    // Query text cannot contain a NUL.
    guard !names.isEmpty, names.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(0) }) else {
      return nil
    }
    return FieldPath(names.map(Self.quotedIfNeeded).joined(separator: "."))
  }

  /// Quotes a name that a path would split, or take for the position of an element.
  private static func quotedIfNeeded(_ name: String) -> String {
    let special = name.utf8.contains { ".\"[]".utf8.contains($0) }
    let isNumber = !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard special || isNumber else { return name }
    var quoted = "\""
    for scalar in name.unicodeScalars {
      if scalar == "\"" { quoted += "\"" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}

extension SurveyPath {
  /// Parses a path of the path catalog.
  init(catalog text: String) {
    self.init(
      CatalogPath(text).steps.map { step in
        switch step {
        case .name(let name): ExactName(name)
        case .element: nil
        }
      })
  }
}
