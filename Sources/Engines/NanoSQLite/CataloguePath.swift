// SPDX-License-Identifier: MIT

/// A path of the catalogue as text: names in stored form joined by dots, `[]` for the elements of an
/// array. A name that holds a dot, a quote or a bracket stands in quotes, with `""` for a quote.
///
/// Text is taken by scalars: a mark at the beginning of a name would make one character with the dot
/// before it.
struct CataloguePath: Hashable {
  enum Step: Hashable {
    case name(String)
    case element
  }
  var steps: [Step]

  init(steps: [Step]) { self.steps = steps }

  init(_ text: String) {
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

  var text: String {
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
  var unescaped: CataloguePath {
    CataloguePath(
      steps: steps.map { step in
        guard case .name(let name) = step, name.utf8.starts(with: "$$".utf8) else { return step }
        return .name(String(name.unicodeScalars.dropFirst()))
      })
  }
}
