// SPDX-License-Identifier: MIT

package import NanoDocument

/// A path of the catalogue as text: names in stored form joined by dots, `[]` for the elements of an
/// array. A name that holds a dot, a quote or a bracket stands in quotes, with `""` for a quote.
///
/// Text is taken by scalars: a mark at the beginning of a name would make one character with the dot
/// before it.
package struct CatalogPath: Hashable {
  package enum Step: Hashable {
    case name(String)
    case element

    /// Names are other names in another Unicode form, which Swift's texts do not tell apart.
    package static func == (a: Step, b: Step) -> Bool {
      switch (a, b) {
      case (.name(let a), .name(let b)): a.isSame(as: b)
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
        text.append(contentsOf: Self.written(name).unicodeScalars)
      }
    }
    return String(text)
  }

  private static func written(_ name: String) -> String {
    let scalars = name.unicodeScalars
    if !name.isEmpty, !scalars.contains(where: { ".\"[]".unicodeScalars.contains($0) }) {
      return name
    }
    var quoted = "\"".unicodeScalars
    for scalar in scalars {
      quoted.append(scalar)
      if scalar == "\"" { quoted.append(scalar) }
    }
    quoted.append("\"")
    return String(quoted)
  }

  /// The same with the names that documents have.
  package var unescaped: CatalogPath {
    CatalogPath(
      steps: steps.map { step in
        guard case .name(let stored) = step else { return step }
        let name = Self.withoutEscapes(stored)
        guard name.utf8.starts(with: "$$".utf8) else { return .name(name) }
        return .name(String(name.unicodeScalars.dropFirst()))
      })
  }

  /// What a name in stored form says: `q\"t` is the name with the quote alone.
  private static func withoutEscapes(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "\\")) else { return name }
    return Array("\"\(name)\"".utf8).withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      return (try? reader.value())?.string ?? name
    }
  }
}

extension ObservedPath {
  /// The path as queries name it: arrays on the way add nothing to it.
  package var field: FieldPath {
    FieldPath(
      components: CatalogPath(path).steps.compactMap { step in
        guard case .name(let name) = step else { return nil }
        return name
      })
  }
}
