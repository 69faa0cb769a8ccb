// SPDX-License-Identifier: MIT

/// Where a value stands in a document: names of fields, from the outside in.
///
/// Written with dots. A name that holds a dot or a quote stands in double quotes, with `""` for a
/// quote. An array on the way is entered; a number addresses one element of an array, or the field
/// of that name of an object. A number in quotes is a name only.
///
/// ```swift
/// FieldPath("Address.Country")     // two names
/// FieldPath("friends.name")        // the name of any friend
/// FieldPath("friends.0.name")      // of the first one
/// FieldPath(#"friends."0""#)       // the field `0` of any friend
/// FieldPath(#""v1.0".notes"#)      // the field `v1.0`, then `notes`
/// ```
///
/// Text that is not a path (an empty name, an open quote) makes an invalid path; every call that
/// takes one throws ``StoreError/Code/invalidPath`` for it, and ``validate()`` does at once.
public struct FieldPath: Sendable, Hashable {
  /// The names from the outside in; never empty.
  public let components: [String]
  /// The positions of components that are numbers in quotes: names, and no elements of arrays.
  let quotedNumbers: [Int]

  /// Reads a path as it is written with dots and quotes.
  public init(_ text: String) { self.init(Self.split(text)) }

  /// A path of names that are taken literally, dots included. A number addresses an element of an
  /// array, as it does without quotes.
  public init(components: [String]) { self.init(components, quotedNumbers: []) }

  init(_ components: [String], quotedNumbers: [Int]) {
    self.components = components.isEmpty ? [""] : components
    self.quotedNumbers = quotedNumbers
  }

  /// - Throws: ``StoreError/Code/invalidPath`` if a name is empty.
  package func validate() throws(StoreError) {
    guard let empty = components.firstIndex(of: "") else { return }
    throw StoreError(
      .invalidPath, "A field path has an empty component",
      [.position: "component \(empty + 1) of \(components.count)", .field: description])
  }

  /// Whether no name is empty.
  package var isValid: Bool { !components.contains("") }

  /// The path of a field below this one.
  public func appending(_ path: FieldPath) -> FieldPath {
    FieldPath(
      components + path.components,
      quotedNumbers: quotedNumbers + path.quotedNumbers.map { $0 + components.count })
  }

  /// By scalars: a mark at the beginning of a name would make one character with the dot before it.
  private static func split(_ text: String) -> [Name] {
    guard text.utf8.contains(0x22) else {
      return text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        .map { Name(text: String(Substring($0)), isQuoted: false) }
    }
    let open = Name(text: "", isQuoted: false)
    var names: [Name] = []
    var rest = text.unicodeScalars[...]
    while true {
      let isQuoted = rest.first == "\""
      guard let (name, tail) = takeName(rest) else { return names + [open] }
      names.append(Name(text: name, isQuoted: isQuoted))
      guard let next = tail.first else { return names }
      guard next == "." else { return names + [open] }
      rest = tail.dropFirst()
    }
  }

  private static func takeName(
    _ text: Substring.UnicodeScalarView
  ) -> (String, Substring.UnicodeScalarView)? {
    guard text.first == "\"" else {
      let end = text.firstIndex(of: ".") ?? text.endIndex
      return (String(text[..<end]), text[end...])
    }
    var name = String.UnicodeScalarView()
    var rest = text.dropFirst()
    while let next = rest.popFirst() {
      if next != "\"" {
        name.append(next)
      } else if rest.first == "\"" {
        name.append("\"")
        rest.removeFirst()
      } else {
        return (String(name), rest)
      }
    }
    return nil
  }
}

extension FieldPath {
  /// Names are the same if they have the same bytes, as in a stored document; String's equality
  /// takes differently composed ones for the same.
  public static func == (a: FieldPath, b: FieldPath) -> Bool {
    a.components.isSame(as: b.components) && a.quotedNumbers == b.quotedNumbers
  }

  public func hash(into hasher: inout Hasher) {
    for name in components { hasher.combine(ExactName(name)) }
    hasher.combine(quotedNumbers)
  }
}

extension FieldPath: CustomStringConvertible, ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }

  /// The path as ``init(_:)`` reads it.
  public var description: String {
    components.enumerated().map { position, name in
      isQuotedNumber(position) || name.utf8.contains { $0 == 0x2E || $0 == 0x22 }
        ? Self.quoted(name) : name
    }.joined(separator: ".")
  }
}

extension FieldPath {
  private static func quoted(_ name: String) -> String {
    var quoted = "\"".unicodeScalars
    for scalar in name.unicodeScalars {
      quoted.append(scalar)
      if scalar == "\"" { quoted.append(scalar) }
    }
    quoted.append("\"")
    return String(quoted)
  }
}

extension DocumentValue {
  /// The value at a path, nil if there is none. Arrays are not entered here: only a number
  /// addresses an element, so that there is one answer at most.
  public subscript(path: FieldPath) -> DocumentValue? {
    var value = self
    for step in path.steps {
      switch value {
      case .object(let object):
        guard let next = object[step.name] else { return nil }
        value = next
      case .array(let array):
        guard let index = step.index, array.indices.contains(index) else { return nil }
        value = array[index]
      default: return nil
      }
    }
    return value
  }
}
