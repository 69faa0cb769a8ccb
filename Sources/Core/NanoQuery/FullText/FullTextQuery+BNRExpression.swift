// SPDX-License-Identifier: MIT

extension FullTextQuery {
  /// Parses a search expression in the syntax of BNRPersistence.
  ///
  /// Words match anywhere in a text, so a substring index serves these queries best. With any other
  /// index they are evaluated on the texts themselves. Accents are ignored with an index of words, as
  /// in BNRPersistence, but not with one of substrings.
  ///
  /// ```
  /// gin              anywhere, also in ginger
  /// gin tonic        both, also gin && tonic
  /// gin || rum       either; binds tighter than both
  /// gin !! sloe      the first and not the second
  /// "gin tonic"      with the blank
  /// [[gin]]          a token between blanks; [[gin*]] its beginning, [[*gin]] its end
  /// [[[[gin          the beginning of a text; gin]]]] the end of one
  /// ```
  ///
  /// An expression that begins with `!!`, an empty expression and `[[*]]` match nothing.
  public init(bnrExpression expression: String) {
    self = BNRExpression(expression).query
  }
}

private struct BNRExpression {
  private enum Item {
    case and, or, not
    case query(FullTextQuery)
  }
  private var items: [Item] = []

  init(_ expression: String) {
    var rest = expression.unicodeScalars[...]
    while true {
      rest = rest.drop { $0.value <= 0x20 }
      guard let first = rest.first else { break }
      let isQuoted = first == "\""
      if isQuoted { rest.removeFirst() }
      let end = rest.firstIndex { isQuoted ? $0 == "\"" : $0.value <= 0x20 } ?? rest.endIndex
      let text = String(rest[..<end])
      rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
      items.append(isQuoted ? .query(.part(text, .anywhere)) : Self.item(text))
    }
  }

  private static func item(_ text: String) -> Item {
    switch text {
    case "&&": .and
    case "||": .or
    case "!!": .not
    default: .query(query(text))
    }
  }

  private static func query(_ text: String) -> FullTextQuery {
    if text.hasPrefix("[[[[") { return .part(String(text.dropFirst(4)), .beginning) }
    if text.hasSuffix("]]]]") { return .part(String(text.dropLast(4)), .end) }
    guard text.hasPrefix("[["), text.hasSuffix("]]"), text.count >= 4 else {
      return .part(text, .anywhere)
    }
    let inner = text.dropFirst(2).dropLast(2)
    let (before, after) = (inner.hasPrefix("*"), inner.hasSuffix("*"))
    let word = String(inner.drop { $0 == "*" }.reversed().drop { $0 == "*" }.reversed())
    let position: TextPosition =
      switch (before, after) {
      case (true, true): .anywhere
      case (true, false): .tokenEnd
      case (false, true): .tokenBeginning
      case (false, false): .token
      }
    return .part(word, position)
  }

  /// A disjunction of queries.
  private struct Group {
    var queries: [FullTextQuery]
    var isExcluded: Bool
    var query: FullTextQuery { queries.count == 1 ? queries[0] : .any(queries) }
  }

  private var groups: [Group] {
    var groups: [Group] = []
    var joinsLast = false
    var isExcluded = false
    for item in items {
      switch item {
      case .and: continue
      case .or: joinsLast = !groups.isEmpty
      case .not: isExcluded = true
      case .query(let query):
        if joinsLast {
          groups[groups.count - 1].queries.append(query)
        } else {
          groups.append(Group(queries: [query], isExcluded: isExcluded))
        }
        joinsLast = false
        isExcluded = false
      }
    }
    return groups
  }

  var query: FullTextQuery {
    let groups = groups
    guard let first = groups.first, !first.isExcluded else { return .nothing }
    let required = groups.filter { !$0.isExcluded }.map(\.query)
    let excluded = groups.filter(\.isExcluded).map(\.query)
    let all = required.count == 1 ? required[0] : FullTextQuery.all(required)
    guard let other = excluded.first else { return all }
    return .excluding(all, excluded.count == 1 ? other : .any(excluded))
  }
}
