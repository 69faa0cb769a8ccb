// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@testable import NanoCLI

@Suite("nanostore output")
struct OutputTests {
  @Test("Display width matches what a terminal draws")
  func displayWidth() {
    #expect(DisplayWidth.of("abc") == 3)
    #expect(DisplayWidth.of("Caché") == 5)
    #expect(DisplayWidth.of("Cache\u{301}") == 5)
    #expect(DisplayWidth.of("日本語") == 6)
    #expect(DisplayWidth.of("한국") == 4)
    #expect(DisplayWidth.of("ｆｕｌｌ") == 8)
    #expect(DisplayWidth.of("😀") == 2)
    #expect(DisplayWidth.of("👨‍👩‍👧") == 2)
    #expect(DisplayWidth.of("🇩🇪") == 2)
    #expect(DisplayWidth.of("❤️") == 2)
    #expect(DisplayWidth.of("") == 0)
  }

  @Test("Text that is too wide is truncated with an ellipsis", arguments: 0...12)
  func fitted(width: Int) {
    for text in ["abcdefgh", "日本語日本語", "a😀b😀c😀", "a b c d e f"] {
      let fitted = DisplayWidth.fitted(text, width)
      #expect(DisplayWidth.of(fitted) <= width)
      #expect(fitted == text || width == 0 || fitted.hasSuffix("…"))
    }
  }

  @Test("The widest columns shrink first, and the full width is used")
  func layout() {
    func widths(_ natural: [Int], _ width: Int) -> [Int] {
      TableLayout(natural: natural, isNumeric: natural.map { _ in false }, width: width).widths
    }
    #expect(widths([5, 10], 80) == [5, 10])
    #expect(widths([4, 100, 30], 60) == [4, 26, 26])
    #expect(widths([4, 100, 100], 61) == [4, 27, 26])
    #expect(widths([20, 20, 20, 20], 40) == [12, 12, 12].map { $0 })
    #expect(widths([200], 10) == [10])
    #expect(widths([], 10) == [])
  }

  @Test("A table with too many columns names some of the omitted ones and counts the rest")
  func manyColumns() throws {
    let command = try CommandRunner()
    let names = (0..<30_000).map { "f\($0)" }
    try command.write("wide.json", "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}")
    try command.run("import", "wide.db", "c", "wide.json")

    let table = try command.run("find", "wide.db", "c", "--table")
    #expect(table.lines.first?.hasPrefix("f0  f1  f2") == true)
    #expect(table.diagnostics.hasPrefix("note: the table has no room for f"))
    #expect(table.diagnostics.hasSuffix(" more fields\n"))
    #expect(table.diagnostics.count < 200)

    let csv = try command.run("find", "wide.db", "c", "--csv")
    #expect(
      csv.lines == [names.joined(separator: ","), names.map { _ in "1" }.joined(separator: ",")])
  }

  @Test("Documents with different fields have their values in the columns of their field names")
  func unlikeDocuments() throws {
    let command = try CommandRunner()
    try command.write(
      "in.json",
      #"""
      {"a":1,"b":"x, y"}
      {"c":true}
      {"b":" blank","a":2,"d":null}
      {}
      {"d":"say \"hi\"","c":[1,2]}
      {"a":"line\nend"}
      """#)
    try command.run("import", "s.db", "c", "in.json")

    let csv = try command.run("find", "s.db", "c", "--csv").output
    #expect(
      csv == #"""
        a,b,c,d
        1,"x, y",,
        ,,true,
        2," blank",,null
        ,,,
        ,,"[1,2]","say ""hi"""
        "line
        end",,,

        """#)
  }

  @Test(
    "Control characters and bidirectional overrides are escaped, and other characters are unchanged"
  )
  func printable() {
    #expect(TerminalText.text("a\tb\r\n\u{1B}[0m\u{7F}\u{9B}") == #"a\tb\r\n\u{1b}[0m\u{7f}\u{9b}"#)
    #expect(TerminalText.table("a\tb\r\n\u{1B}[0m\u{9B}\n") == "a\tb\\r\n\\u{1b}[0m\\u{9b}\n")
    #expect(TerminalText.text("é 日本 👨‍👩‍👧 \\n") == "é 日本 👨‍👩‍👧 \\n")
  }

  @Test("JSON for the terminal is equivalent and has no characters that control the terminal")
  func printableJSON() throws {
    let value: DocumentValue = ["a\u{9B}": "\u{1B}\u{7F}\u{202E}é\n", "b": [1]]
    for isPretty in [false, true] {
      let shown = TerminalText.json(value.jsonString(pretty: isPretty))
      #expect(try DocumentValue(json: shown) == value)
      #expect(
        !shown.unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\u{7F}" || $0 == "\u{202E}" })
    }
  }

  @Test(
    "find --keys writes the exact keys to other programs, and reports those that are not a line")
  func keys() throws {
    let command = try CommandRunner()
    let lines = ["tab\there", "\u{1B}[1m", "back\\slash", "cafe\u{301}"]
    for key in lines { try command.run("put", "s.db", "c", key, "{}") }

    #expect(
      try command.run("find", "s.db", "c", "--keys").output.hasSameBytes(
        as: lines.map { $0 + "\n" }.joined()))

    try command.run("put", "s.db", "c", "two\nlines", "{}")
    let outcome = try command.run("find", "s.db", "c", "--keys")
    #expect(outcome.status == 1 && outcome.lines.count == lines.count)
    #expect(
      outcome.diagnostics.hasPrefix(#"row ID 5: The key 'two\nlines' contains a line feed"#),
      "\(outcome.diagnostics)")
  }

  @Test("Numbers and durations are human-readable")
  func quantities() {
    #expect(Quantity.count(0) == "0")
    #expect(Quantity.count(999) == "999")
    #expect(Quantity.count(1_234_567) == "1,234,567")
    #expect(Quantity.count(-1_000) == "-1,000")
    #expect(Quantity.bytes(999) == "999 bytes")
    #expect(Quantity.bytes(2_500_000) == "2.5 MB")
    #expect(Quantity.duration(0.004) == "4 ms")
    #expect(Quantity.duration(125) == "2 min 5 s")
  }

  @Test("Progress has a bar and the remaining time if the size is known")
  func progress() {
    #expect(
      ProgressLine.line(0.25, "10 documents", after: 2)
        == "[#####---------------] 25 %  10 documents, 6.0 s left")
    #expect(ProgressLine.line(nil, "10 documents", after: 2) == "10 documents")
    #expect(
      ProgressLine.line(0, "0 documents", after: 0) == "[--------------------] 0 %  0 documents")
  }

  @Test("The order of differently named options is preserved")
  func orderedArguments() {
    #expect(
      OrderedArguments.joined(["aggregate", "d", "c", "--max", "y", "--count", "--min=x"])
        == ["aggregate", "d", "c", "--column", "max:y", "--column", "count", "--column", "min:x"])
    #expect(
      OrderedArguments.joined(["find", "--arg", "--text-arg", "--text-arg", "it's"])
        == ["find", "--arg", "--text-arg", "--arg", "'it''s'"])
    #expect(OrderedArguments.joined(["aggregate", "--min"]) == ["aggregate", "--min"])
    #expect(
      OrderedArguments.joined(["x", "--", "--text-arg", "a"]) == ["x", "--", "--text-arg", "a"])
  }

  @Test(
    "Quoted text parses as the same text, whatever it contains",
    arguments: ["7", "it's", "''", "", "null", "[1]"])
  func quotedArguments(text: String) {
    #expect(ArgumentValue.parse(ArgumentValue.quoted(text)) == .string(text))
  }
}
