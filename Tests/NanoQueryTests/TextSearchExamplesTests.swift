// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Examples in docs/TEXT-SEARCH.md")
struct TextSearchExamplesTests {
  @Test("The reference semantics compute the result in each table row")
  func examples() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/TEXT-SEARCH.md")
    var kind = ""
    var count = 0
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    where line.hasPrefix("| ") {
      let cells = line.replacing("\\|", with: "\u{1}")
        .split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map {
          $0.replacing("\u{1}", with: "|").replacing("`", with: "")
            .trimmingCharacters(in: .whitespaces)
        }
      guard cells[0] != "document" else {
        kind = cells[1]
        continue
      }
      count += 1
      #expect(try Self.matches(cells[0], kind, cells[1]) == (cells[2] == "yes"), "\(line)")
    }
    #expect(count > 50)
  }

  private static func matches(_ document: String, _ kind: String, _ text: String) throws -> Bool {
    let scope = FullTextScope(["t", "u.v"], tokens: kind.hasSuffix("words") ? .words : .substrings)
    let query =
      kind.hasPrefix("expression") ? FullTextQuery(bnrExpression: text) : FullTextQuery(text)
    let subject = DocumentSubject(try DocumentObject(json: document))
    return FullTextMatcher(query, in: scope).matches { subject.texts(at: $0) }
  }
}

@Suite("Full-text queries")
struct FullTextQueryTests {
  @Test(
    "User input parses to a tree",
    arguments: [
      ("gin tonic", FullTextQuery.all([.phrase("gin"), .phrase("tonic")])),
      ("\"gin tonic\"* ", .prefix("gin tonic")), ("gin*", .prefix("gin")), ("*", .phrase("*")),
      ("a OR b c", .all([.any([.phrase("a"), .phrase("b")]), .phrase("c")])),
      ("OR a", .phrase("a")), ("a OR", .phrase("a")), ("a -", .all([.phrase("a"), .phrase("-")])),
      ("a -b NOT \"c d\"", .excluding(.phrase("a"), .any([.phrase("b"), .phrase("c d")]))),
      ("-a", .nothing), ("", .nothing), ("\"", .phrase("")),
      ("title:gin x:y", .all([.field("title", .phrase("gin")), .phrase("x:y")])),
      ("-title:\"a b\" c", .excluding(.phrase("c"), .field("title", .phrase("a b")))),
    ])
  func parsed(text: String, expected: FullTextQuery) {
    #expect(FullTextQuery(text, fields: ["title"]) == expected)
  }

  @Test("Only the name of a field before a colon is a field, also in long text")
  func fieldNames() {
    let fields: [FieldPath] = ["t", "title"]
    #expect(FullTextQuery("title:gin", fields: fields) == .field("title", .phrase("gin")))
    #expect(FullTextQuery("titles:gin", fields: fields) == .phrase("titles:gin"))
    #expect(FullTextQuery("t:t:gin", fields: fields) == .field("t", .phrase("t:gin")))
    let long = FullTextQuery(String(repeating: "gin ", count: 100_000), fields: fields)
    guard case .all(let queries) = long else {
      Issue.record("not a list")
      return
    }
    #expect(queries.count == 100_000)
  }

  @Test("Highlights surround matches, and overlapping ones are merged")
  func highlighted() {
    let scope = FullTextScope(["t", "u"])
    func mark(_ query: FullTextQuery, _ text: String, _ field: FieldPath = "t") -> String {
      FullTextHighlighter(query, in: scope, field: field).highlighted(text, "<", ">")
    }
    #expect(mark(.phrase("creme"), "Die CRÈME e\u{301}s") == "Die <CRÈME> e\u{301}s")
    #expect(mark(.any([.phrase("a b"), .phrase("b c")]), "a b, c a") == "<a b, c> a")
    #expect(mark(.field("u", .phrase("a")), "a") == "a")
    #expect(mark(.field("u", .phrase("a")), "a", "u") == "<a>")
    #expect(mark(.excluding(.prefix("a"), .phrase("b")), "ab b") == "<ab> b")
    #expect(mark(.part("\"b", .anywhere), "a\"b") == "a<\"b>")
  }

  @Test("A snippet is the part with the most matches")
  func snippet() {
    let highlighter = FullTextHighlighter(
      .all([.phrase("x"), .phrase("y")]), in: FullTextScope(["t"]), field: "t")
    let long = "a b c x d e f g h y x i j k l"
    func snippet(_ words: Int) -> String {
      highlighter.snippet(long, words: words, "[", "]", ellipsis: "…").text
    }
    #expect(snippet(2) == "…[y] [x]…")
    #expect(snippet(4) == "…h [y] [x] i…")
    #expect(snippet(100) == "a b c [x] d e f g h [y] [x] i j k l")
    #expect(highlighter.snippet("no", words: 3, "[", "]", ellipsis: "…").found == 0)
  }

  @Test("A snippet begins with a match that is longer than it")
  func longMatch() {
    let highlighter = FullTextHighlighter(
      .phrase("one two three four"), in: FullTextScope(["t"]), field: "t")
    let filler = String(repeating: "a ", count: 50)
    func snippet(_ text: String) -> String {
      highlighter.snippet(text, words: 2, "[", "]", ellipsis: "…").text
    }
    #expect(snippet(filler + "one two three four " + filler) == "…[one two]…")
    #expect(snippet(filler + "one two three four") == "…[one two]…")
    #expect(snippet("one two three four " + filler) == "[one two]…")
  }

  @Test("The snippet of a long text with many matches is the part with the most")
  func longSnippet() {
    let highlighter = FullTextHighlighter(.phrase("x"), in: FullTextScope(["t"]), field: "t")
    let filler = String(repeating: "x a ", count: 100_000)
    let snippet = highlighter.snippet(
      filler + "b x x b " + filler, words: 4, "[", "]", ellipsis: "…")
    #expect(snippet.text == "…[x] [x] b [x]…")
    #expect(snippet.found == 3)
  }
}
