// SPDX-License-Identifier: MIT

/// The path of a field in a document.
///
/// Components are separated by periods. A component that contains a period or a quote is enclosed in
/// double quotes, in which `""` represents a quote. Arrays along the path are traversed. A number
/// denotes one element of an array, or the field of that name in an object; a quoted number is always a
/// field name.
///
/// ```swift
/// FieldPath("Address.Country")     // two components
/// FieldPath("friends.name")        // the name of any friend
/// FieldPath("friends.0.name")      // the name of the first friend
/// FieldPath(#"friends."0""#)       // the field `0` of any friend
/// FieldPath(#""v1.0".notes"#)      // the field `v1.0`, then `notes`
/// ```
///
/// Malformed text (an empty component, an unclosed quote) creates an invalid path. Every call that
/// takes a path throws ``StoreError/Code/invalidPath`` for it.
public struct FieldPath: Sendable, Hashable {
  /// The component names, outermost first. Never empty.
  public let components: [String]
  /// The positions of quoted numbers, which are field names and never array indices.
  let quotedNumbers: [Int]

  /// Parses a path written with periods and quotes.
  public init(_ text: String) { self.init(Self.split(text)) }

  /// Creates a path from literal component names, which may contain periods. A number denotes an array
  /// element, as it does without quotes.
  public init(components: [String]) { self.init(components, quotedNumbers: []) }

  init(_ components: [String], quotedNumbers: [Int]) {
    self.components = components.isEmpty ? [""] : components
    self.quotedNumbers = quotedNumbers
  }

  /// Checks that no component is empty.
  ///
  /// - Throws: ``StoreError/Code/invalidPath``.
  package func validate() throws(StoreError) {
    guard let empty = components.firstIndex(of: "") else { return }
    throw StoreError(
      .invalidPath, "A field path has an empty component",
      [.position: "component \(empty + 1) of \(components.count)", .field: description])
  }

  /// Whether no component is empty.
  package var isValid: Bool { !components.contains("") }

  /// Returns the path followed by another path.
  public func appending(_ path: FieldPath) -> FieldPath {
    FieldPath(
      components + path.components,
      quotedNumbers: quotedNumbers + path.quotedNumbers.map { $0 + components.count })
  }

  /// Splits the text by Unicode scalars: a combining mark at the start of a component would form one
  /// character with the preceding period.
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

  /// Returns the first name of a text, without quotes, and the rest; nil if a quote is not closed.
  package static func takeName(
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
  /// Components are equal if their bytes are equal, as in a stored document. String equality would
  /// ignore differences in Unicode normalization.
  public static func == (a: FieldPath, b: FieldPath) -> Bool {
    a.components.hasSameBytes(as: b.components) && a.quotedNumbers == b.quotedNumbers
  }

  public func hash(into hasher: inout Hasher) {
    for name in components { hasher.combine(ExactName(name)) }
    hasher.combine(quotedNumbers)
  }
}

extension FieldPath: CustomStringConvertible, ExpressibleByStringLiteral {
  /// Parses a path written with periods and quotes; see ``init(_:)``.
  public init(stringLiteral text: String) { self.init(text) }

  /// The path in the form that ``init(_:)`` parses.
  public var description: String {
    components.enumerated().map { position, name in
      isQuotedNumber(position) || name.utf8.contains { $0 == 0x2E || $0 == 0x22 }
        ? name.quoted(with: "\"") : name
    }.joined(separator: ".")
  }
}

extension DocumentValue {
  /// The value at a path, or `nil` if there is none. Arrays are not traversed: only an index selects an
  /// element, so that there is at most one result.
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
