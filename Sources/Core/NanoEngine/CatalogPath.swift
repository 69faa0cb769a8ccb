// SPDX-License-Identifier: MIT

package import NanoDocument

/// The text form of a catalog path: stored names joined by dots, with `[]` for the elements of an array.
///
/// A name that contains a dot, a quote, or a bracket is quoted, and each quote in it is doubled (`""`).
///
/// The text is processed by Unicode scalars: a combining mark at the start of a name would form a single
/// character with the dot before it.
package struct CatalogPath: Hashable {
  package enum Step: Hashable {
    case name(String)
    case element

    /// Compares names by their bytes: Unicode forms that `String` considers equal are different names.
    package static func == (a: Step, b: Step) -> Bool {
      switch (a, b) {
      case (.name(let a), .name(let b)): a.hasSameBytes(as: b)
      case (.element, .element): true
      default: false
      }
    }

    package func hash(into hasher: inout Hasher) {
      guard case .name(let name) = self else { return }
      hasher.combine(ExactName(name))
    }
  }
  package var steps: [Step]

  package init(steps: [Step]) { self.steps = steps }

  package init(_ text: String) {
    steps = []
    var rest = text.unicodeScalars[...]
    while let first = rest.first {
      if first == "[" {
        steps.append(.element)
        rest = rest.dropFirst(2)
      } else if first == "\"" {
        steps.append(.name(Self.takeQuoted(&rest)))
      } else {
        let end = rest.firstIndex { $0 == "." || $0 == "[" } ?? rest.endIndex
        steps.append(.name(String(rest[..<end])))
        rest = rest[end...]
      }
      if rest.first == "." { rest = rest.dropFirst() }
    }
  }

  private static func takeQuoted(_ rest: inout Substring.UnicodeScalarView) -> String {
    var name = String.UnicodeScalarView()
    rest = rest.dropFirst()
    while let next = rest.popFirst() {
      if next != "\"" {
        name.append(next)
      } else if rest.first == "\"" {
        name.append(rest.removeFirst())
      } else {
        break
      }
    }
    return String(name)
  }

  package var text: String {
    var text = "".unicodeScalars
    for step in steps {
      switch step {
      case .element: text.append(contentsOf: "[]".unicodeScalars)
      case .name(let name):
        if !text.isEmpty { text.append(".") }
        text.append(contentsOf: Self.quotedIfNeeded(name).unicodeScalars)
      }
    }
    return String(text)
  }

  private static func quotedIfNeeded(_ name: String) -> String {
    let scalars = name.unicodeScalars
    if !name.isEmpty, !scalars.contains(where: { ".\"[]".unicodeScalars.contains($0) }) {
      return name
    }
    return name.quoted(with: "\"")
  }

  /// The same path with the names as they appear in documents.
  package var unescaped: CatalogPath {
    CatalogPath(
      steps: steps.map { step in
        guard case .name(let stored) = step else { return step }
        let name = Self.withoutEscapes(stored)
        guard name.utf8.starts(with: "$$".utf8) else { return .name(name) }
        return .name(String(name.unicodeScalars.dropFirst()))
      })
  }

  /// Decodes the JSON escapes in a stored name: `q\"t` becomes `q"t`.
  private static func withoutEscapes(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "\\")) else { return name }
    return Array("\"\(name)\"".utf8).withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      return (try? reader.value())?.string ?? name
    }
  }
}

extension ObservedPath {
  /// The path as queries name it, without the arrays that it passes through.
  package var field: FieldPath {
    FieldPath(
      components: CatalogPath(path).steps.compactMap { step in
        guard case .name(let name) = step else { return nil }
        return name
      })
  }
}
