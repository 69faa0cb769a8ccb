// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryLexer {
  /// Consumes a field in brackets. Names are quoted as in ``FieldPath``. Delimiters are matched as
  /// bytes, so a combining character after a period or quote does not hide it.
  mutating func takeField() throws(StoreError) -> QueryToken.Kind {
    let start = index
    var names: [FieldPath.Name] = []
    repeat {
      index += 1
      let nameStart = index
      let isQuoted = source.byte(index) == UInt8(ascii: "\"")
      let name = isQuoted ? try takeQuotedName(in: start) : takePlainName()
      names.append(FieldPath.Name(text: name, isQuoted: isQuoted))
      guard !source.isEnd(index) else {
        throw source.error(
          "A field is not closed", at: start..<index, expected: "]")
      }
      try check(name, at: nameStart, in: start)
    } while source.byte(index) == UInt8(ascii: ".")
    guard source.byte(index) == UInt8(ascii: "]") else {
      throw source.error(
        "A quoted name is followed by unexpected text", at: index..<index + 1,
        code: .invalidPath, expected: ". or ]")
    }
    index += 1
    return .field(name(names))
  }

  private func name(_ names: [FieldPath.Name]) -> QueryToken.Name {
    guard !names[0].isQuoted else { return .path(FieldPath(names)) }
    if names.count == 1, let attribute = Attribute(textName: names[0].text) {
      return .attribute(attribute)
    }
    guard names[0].text == "@" else { return .path(FieldPath(names)) }
    return .element(names.count == 1 ? .element : FieldPath(Array(names.dropFirst())))
  }

  private mutating func takePlainName() -> String {
    let start = index
    while !source.isEnd(index), source.byte(index) != UInt8(ascii: "."),
      source.byte(index) != UInt8(ascii: "]")
    {
      index += 1
    }
    return source.text(start..<index)
  }

  private mutating func takeQuotedName(in field: Int) throws(StoreError) -> String {
    let start = index
    if let name = takeQuoted(by: UInt8(ascii: "\"")) { return name }
    throw source.error(
      "A quoted name is not closed", at: start..<index, code: .invalidPath, expected: "\"",
      hint: "write a quote inside a name twice")
  }

  private func check(_ name: String, at start: Int, in field: Int) throws(StoreError) {
    if name.isEmpty {
      throw source.error(
        "A field path has an empty component", at: start..<index + 1, code: .invalidPath,
        expected: "a name")
    }
    // `FieldPath.element` consists of a NUL character, so query text must not contain one.
    if name.utf8.contains(0) {
      throw source.error(
        "A name in a field path contains a NUL character", at: field..<index, code: .invalidPath,
        expected: "a name without NUL")
    }
  }

  /// Consumes `?` or `?3`.
  mutating func takePosition() throws(StoreError) -> QueryToken.Kind {
    let start = index
    index += 1
    let digits = index
    while source.byte(index).isDigit { index += 1 }
    let position = digits == index ? largestPosition + 1 : Int(source.text(digits..<index)) ?? 0
    guard (1...Self.largestParameter).contains(position) else {
      throw source.error(
        "A parameter number is out of range", at: start..<index,
        expected: "1 to \(Self.largestParameter)")
    }
    largestPosition = max(largestPosition, position)
    return .parameter(.position(position))
  }

  /// Consumes `:name`, `@name` or `$name`, which denote the same parameter.
  mutating func takeName() throws(StoreError) -> QueryToken.Kind {
    let start = index
    index += 1
    let name = takeWordText()
    guard !name.isEmpty else {
      throw source.error(
        "A parameter has no name", at: start..<index, expected: "a name such as :name")
    }
    return .parameter(.name(name))
  }

  /// SQLite's limit.
  private static let largestParameter = 32_766
}
