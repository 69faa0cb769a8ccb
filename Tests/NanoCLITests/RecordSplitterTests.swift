// SPDX-License-Identifier: MIT

import NanoCLI
import NanoStore
import Testing

@Suite("Splitting a byte stream into records")
struct RecordSplitterTests {
  /// Describes a record for comparison.
  private func describe(_ record: Record) -> String {
    let text = record.fault?.message ?? String(decoding: record.bytes, as: UTF8.self)
    return "\(record.line):\(record.offset):\(text)"
  }

  private func records(_ pieces: [ArraySlice<UInt8>], maximumLength: Int = 1 << 20) -> [String] {
    var splitter = RecordSplitter(maximumLength: maximumLength)
    var found: [String] = []
    func drain() { while let record = splitter.next() { found.append(describe(record)) } }
    for piece in pieces {
      piece.withUnsafeBytes { splitter.append($0) }
      drain()
    }
    splitter.finish()
    drain()
    return found
  }

  private func records(_ text: String, maximumLength: Int = 1 << 20) -> [String] {
    records([Array(text.utf8)[...]], maximumLength: maximumLength)
  }

  static let inputs: [String] = [
    "", " \n\t ", "[]", " [ ] ", "[{}]", "{}", "{\"a\":1}", "[{\"a\":1},{\"a\":2}]",
    "[\n  {\n    \"a\": [1, {\"b\": 2}]\n  },\n  {\"c\": \"],}{[\"}\n]\n",
    "{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\r\n\r\n{\"a\":2}", "{\"a\":1} {\"a\":2}{\"a\":3}",
    "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", "\u{FEFF}{\"a\":1}\n{\"a\":2}", "\u{FEFF}[1]",
    #"[{"a":"\\\""},{"b":"\\"},{"c":"\u005c"}]"#, #"{"a":"é😀日本"}"# + "\n" + #"{"b":"\n"}"#,
    // Invalid input.
    "[1,,2]", "[1,]", "[,]", "[", "[1", "[1] x", "[1}]", "[{\"a\":1]", "{\"a\":1\n{\"a\":2}\n",
    "{\"a\":1}}\n{\"a\":2}\n", "{\"a\":[\n{},\n{}\n]}\n{}", "{}\n{\n\"a\": \"x\n{}\n", "x\ny\n",
    "{\"a\n\"}\n{\"b\":1}\n", "{", "\"", "]", "}\n{}",
    "{\"a\":1,\n\r\n\n{\"b\":1}\n", "{\"a\":\"x\\\n{}\n", "{\"a\":[{},\n\n{}],\"b\":{\n{}\n{}",
    "{} \t \n\n{}  x\n",
  ]

  @Test("Chunk boundaries do not affect the records", arguments: inputs)
  func chunkBoundaries(text: String) {
    let bytes = Array(text.utf8)
    let whole = records(text)

    for cut in 0...bytes.count {
      #expect(records([bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)")
    }
    #expect(records(bytes.indices.map { bytes[$0...$0] }) == whole)
  }

  @Test("Random documents round-trip as an array, as lines and as concatenated values")
  func randomDocuments() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(state: seed)
    for _ in 0..<200 {
      let documents = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        DocumentValue.object(random.object(depth: 3))
      }
      for isPretty in [false, true] {
        let texts = documents.map { $0.jsonString(pretty: isPretty) }
        let forms = [
          "[" + texts.joined(separator: ",") + "]", texts.joined(separator: "\n"),
          texts.joined(separator: isPretty ? "" : " \n\n"),
        ]
        for form in forms {
          let bytes = Array(form.utf8)
          let cuts = (0..<3).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
          let found = records(
            [
              bytes[..<cuts[0]], bytes[cuts[0]..<cuts[1]], bytes[cuts[1]..<cuts[2]],
              bytes[cuts[2]...],
            ]
          ).map { $0.split(separator: ":", maxSplits: 2).last.map(String.init) ?? "" }
          try #require(found == texts, "seed \(seed)")
        }
      }
    }
  }

  @Test("Each record has its line and its offset")
  func locations() {
    #expect(records("[\n {\"a\":\n1},\n\n {}]") == ["2:3:{\"a\":\n1}", "5:15:{}"])
    #expect(records("{\"a\":1}\n\n  {\"b\":2}\n") == ["1:0:{\"a\":1}", "3:11:{\"b\":2}"])
    #expect(records("\u{FEFF}{}") == ["1:3:{}"])
  }

  @Test("Errors between array elements are reported at their position")
  func faults() {
    #expect(records("[1,,2]") == ["1:1:1", "1:3:An element of the array is missing", "1:4:2"])
    #expect(records("[1,]") == ["1:1:1", "1:3:An array has a trailing comma"])
    #expect(records("[\n1") == ["2:2:1", "2:3:The array is not closed"])
    #expect(records("[1] [2]") == ["1:1:1", "1:4:Unexpected content after the array"])
  }

  @Test("An invalid line does not affect the next one")
  func invalidLine() {
    #expect(
      records("{\"a\":\"x\n{\"a\":2}\n}}\n{}") == [
        "1:0:{\"a\":\"x", "2:8:{\"a\":2}", "3:16:}}", "4:19:{}",
      ])
  }

  @Test(
    "A line that was cut off does not affect the next one",
    arguments: [#"{"a":1,"#, #"{"a":"x,"#, #"{"a":{"#, "{", #"{"a":"x\"#, #"{"a":[1],"b":2,"#])
  func cutOffLine(line: String) {
    let next = line.utf8.count + 1
    #expect(
      records(line + "\n{\"b\":2}\n{\"c\":3}") == [
        "1:0:\(line)", "2:\(next):{\"b\":2}", "3:\(next + 8):{\"c\":3}",
      ])
  }

  @Test(
    "An object on a line of its own, in an array or after a name, is a part of the record",
    arguments: [
      #"{"a":[{"x":1},\#n{"b":2}]}"#, #"{"a":\#n{"b":2}}"#, #"{"a":[\#n{}\#n]}"#,
      "{\"a\":\(String(repeating: "[", count: 70)){},\n{}\(String(repeating: "]", count: 70)),\"b\":[{},\n{}]}",
    ])
  func objectOnItsLine(text: String) {
    #expect(records(text) == ["1:0:\(text)"])
  }

  @Test(
    "A record with a million line breaks takes linear time", .timeLimit(.minutes(10)),
    arguments: ["\n", "\r\n"])
  func lineBreaks(lineBreak: String) {
    let text = "{\"a\":1," + String(repeating: lineBreak, count: 1_000_000) + "\"b\":2}"
    let bytes = Array(text.utf8)
    let pieces = stride(from: 0, to: bytes.count, by: 1_000).map {
      bytes[$0..<min($0 + 1_000, bytes.count)]
    }

    for chunks in [[bytes[...]], pieces] {
      let found = records(chunks, maximumLength: 1 << 22)
      #expect(found.count == 1)
      #expect(found.first?.utf8.count == text.utf8.count + "1:0:".utf8.count)
    }
  }

  @Test("A record without an end fails at the size limit")
  func limit() {
    let text = "[{\"a\":\"" + String(repeating: "x", count: 1000)
    let bytes = Array(text.utf8)

    let found = records([bytes[..<500], bytes[500...]], maximumLength: 300)

    #expect(found == ["1:1:A record is longer than the limit"])
  }

  @Test("The size limit does not depend on chunk boundaries", arguments: [0, 1, 30])
  func limitAcrossChunks(blanks: Int) {
    let value = "{\"a\":\"" + String(repeating: "x", count: 40) + "\"}"
    let blank = String(repeating: " ", count: blanks)
    for text in [value + blank, value + blank + "\n{}", "[" + value + blank + ",1]", "xx" + value] {
      let bytes = Array(text.utf8)
      for limit in value.utf8.count - 1...value.utf8.count + blanks + 1 {
        let whole = records([bytes[...]], maximumLength: limit)
        let single = records(bytes.indices.map { bytes[$0...$0] }, maximumLength: limit)
        #expect(whole == single, "\(text.debugDescription), limit \(limit)")
      }
    }
  }
}

@Suite("Fuzzing the record splitter")
struct RecordFuzzTests {
  @Test("Damaged input produces documents or errors located inside the input, and never a crash")
  func damage() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(state: seed)
    let reader = RecordReader(key: nil, dialect: .extended)
    var writer = JSONWriter()
    let header = #"{"$nanostore":{"key":"a","added":{"$date":"2020-01-01T00:00:00Z"}},"#
    for _ in 0..<2_000 {
      let text = random.object(depth: 3).jsonString(pretty: Bool.random(using: &random))
      let begin = ["", "[", header].randomElement(using: &random) ?? ""
      var bytes = Array((begin + text + "\n" + text).utf8)
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: index)
        }
      }
      var splitter = RecordSplitter()
      bytes.withUnsafeBytes { splitter.append($0) }
      splitter.finish()
      while let record = splitter.next() {
        if case .failure(let failure) = reader.read(record, into: &writer) {
          try #require((0...bytes.count).contains(failure.place.byte), "seed \(seed)")
        }
      }
    }
  }
}

/// A generator that repeats its numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  // SplitMix64 (Steele, Lea, Flood 2014).
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func object(depth: Int) -> DocumentObject {
    DocumentObject(
      (0..<Int.random(in: 0...4, using: &self)).map { index in
        ("\(text())\(index)", value(depth: depth))
      })
  }

  mutating func value(depth: Int) -> DocumentValue {
    switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &self) {
    case 0: nil
    case 1: .bool(Bool.random(using: &self))
    case 2: .int(Int64.random(in: Int64.min...Int64.max, using: &self))
    case 3: .double(Double.random(in: -1e9...1e9, using: &self))
    case 5: .array((0..<Int.random(in: 0...3, using: &self)).map { _ in value(depth: depth - 1) })
    case 6: .object(object(depth: depth - 1))
    default: .string(text())
    }
  }

  mutating func text() -> String {
    let parts = ["a", "\"", "\\", "{", "}", "[", "]", ",", "\n", "é", "😀", " ", ":"]
    return (0..<Int.random(in: 0...5, using: &self)).map { _ in
      parts.randomElement(using: &self) ?? ""
    }.joined()
  }
}
