// SPDX-License-Identifier: MIT

public import NanoDocument

extension FullTextQuery {
  /// Parses user-entered search text. Every text is a valid query; one without a word matches nothing.
  ///
  /// ```
  /// gin tonic              both words
  /// "gin and tonic"        these words in sequence
  /// ton*                   words with this prefix; also "gin to"*
  /// gin OR rum             either; binds tighter than the blank
  /// gin -sloe              the first and not the second; also gin NOT sloe
  /// title:gin              only in this field, if it is one of `fields`
  /// ```
  ///
  /// - Parameter fields: The fields that can precede a colon. Any other colon is an ordinary character.
  public init(_ text: String, fields: [FieldPath] = []) {
    var parser = FullTextQueryParser(text, fields)
    self = parser.query()
  }
}

private struct FullTextQueryParser {
  private enum Item {
    case or, not
    case query(FullTextQuery, isExcluded: Bool)
  }
  private var rest: Substring.UnicodeScalarView
  private let fields: [(path: FieldPath, name: [Unicode.Scalar])]

  init(_ text: String, _ fields: [FieldPath]) {
    rest = text[...].unicodeScalars
    self.fields = fields.map { (path: $0, name: Array($0.description.unicodeScalars)) }
  }

  mutating func query() -> FullTextQuery {
    var required: [[FullTextQuery]] = []
    var excluded: [FullTextQuery] = []
    var joinsLast = false
    var excludesNext = false
    while let item = next() {
      switch item {
      case .or:
        joinsLast = !required.isEmpty
        continue
      case .not:
        excludesNext = true
        continue
      case .query(let query, let isExcluded):
        if isExcluded || excludesNext {
          excluded.append(query)
        } else if joinsLast {
          required[required.count - 1].append(query)
        } else {
          required.append([query])
        }
      }
      joinsLast = false
      excludesNext = false
    }
    let groups = required.map { $0.count == 1 ? $0[0] : FullTextQuery.any($0) }
    guard let first = groups.first else { return .nothing }
    let all = groups.count == 1 ? first : .all(groups)
    guard let other = excluded.first else { return all }
    return .excluding(all, excluded.count == 1 ? other : .any(excluded))
  }

  private mutating func next() -> Item? {
    rest = rest.drop(while: Self.isBlank)
    guard let first = rest.first else { return nil }
    let isExcluded = first == "-" && rest.dropFirst().first.map { !Self.isBlank($0) } == true
    if isExcluded { rest.removeFirst() }
    let field = takeField()
    guard let query = takeQuoted() ?? takeWord() else {
      return .query(.phrase(""), isExcluded: isExcluded)
    }
    if field == nil, !isExcluded, case .phrase(let word) = query.query, !query.isQuoted {
      if word == "OR" || word == "|" { return .or }
      if word == "NOT" { return .not }
      if word == "AND" { return .query(.phrase(""), isExcluded: false) }
    }
    return .query(field.map { .field($0, query.query) } ?? query.query, isExcluded: isExcluded)
  }

  /// Consumes a field name such as `title:` if a word or a quote follows it.
  private mutating func takeField() -> FieldPath? {
    for (path, name) in fields where rest.starts(with: name) {
      var behind = rest.dropFirst(name.count)
      guard behind.popFirst() == ":", let next = behind.first, !Self.isBlank(next) else { continue }
      rest = behind
      return path
    }
    return nil
  }

  /// Consumes a quoted phrase. An unclosed quote extends to the end.
  private mutating func takeQuoted() -> (query: FullTextQuery, isQuoted: Bool)? {
    guard rest.first == "\"" else { return nil }
    rest.removeFirst()
    let end = rest.firstIndex(of: "\"") ?? rest.endIndex
    let text = String(rest[..<end])
    rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
    guard rest.first == "*" else { return (.phrase(text), true) }
    rest.removeFirst()
    return (.prefix(text), true)
  }

  private mutating func takeWord() -> (query: FullTextQuery, isQuoted: Bool)? {
    let end = rest.firstIndex { Self.isBlank($0) || $0 == "\"" } ?? rest.endIndex
    let word = rest[..<end]
    rest = rest[end...]
    guard !word.isEmpty else { return nil }
    guard word.last == "*", word.count > 1 else { return (.phrase(String(word)), false) }
    return (.prefix(String(word.dropLast())), false)
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value <= 0x20 || scalar.properties.isWhitespace
  }
}
