// SPDX-License-Identifier: MIT

import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct JSONSplitterTests {
  /// Divides a text that arrives in pieces.
  private func split(
    _ text: String, field: String? = "results", pieces: Int
  ) throws -> (elements: [String], shell: String) {
    var splitter = JSONSplitter(field: field)
    var elements: [String] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
      _ = try piece.withUnsafeBytes { piece in
        try splitter.read(piece) {
          elements.append(String(decoding: $0, as: UTF8.self))
          return true
        }
      }
    }
    try splitter.finish()
    return (elements, String(decoding: splitter.shell, as: UTF8.self))
  }

  private static let texts: [(String, String?, [String], String)] = [
    (#"{"results":[],"last_seq":5}"#, "results", [], #"{"results":[],"last_seq":5}"#),
    (
      "{\"results\":[\n{\"a\":1},\r\n {\"b\":[2,{}]}\n],\n\"last_seq\":\"x\"}\n", "results",
      [#"{"a":1}"#, #"{"b":[2,{}]}"#], "{\"results\":[],\n\"last_seq\":\"x\"}\n"
    ),
    (
      #"{"last_seq":[1,"]"],"pending":0,"results":[1,"a,]\"",null,[],-2.5e3]}"#, "results",
      ["1", #""a,]\"""#, "null", "[]", "-2.5e3"], #"{"last_seq":[1,"]"],"pending":0,"results":[]}"#
    ),
    (
      #"{"x":{"results":[1]},"y":"results","results" : [ {"results":[2]} ]}"#, "results",
      [#"{"results":[2]}"#], #"{"x":{"results":[1]},"y":"results","results" : []}"#
    ),
    (
      #" [{"ok":{"s":"\\"}},{"missing":"1-a"}] "#, nil,
      [#"{"ok":{"s":"\\"}}"#, #"{"missing":"1-a"}"#], " [] "
    ),
    (#"{"results":["ü😀","é"]}"#, "results", [#""ü😀""#, #""é""#], #"{"results":[]}"#),
  ]

  @Test("A text is divided in the same way wherever its pieces end")
  func pieces() throws {
    for (text, field, elements, shell) in Self.texts {
      for length in 1...text.utf8.count {
        let divided = try split(text, field: field, pieces: length)
        #expect(divided.elements == elements)
        #expect(divided.shell == shell)
      }
    }
  }

  @Test("A text that ends early is not complete")
  func prefixes() throws {
    for (text, field, _, _) in Self.texts {
      let end = text.utf8.count - text.utf8.reversed().prefix { $0 == 0x20 || $0 == 0x0A }.count
      for length in 0..<end {
        let prefix = String(decoding: text.utf8.prefix(length), as: UTF8.self)
        #expect(throws: PeerError.self) { try split(prefix, field: field, pieces: 1_000) }
      }
    }
  }

  @Test(
    "A text that is not divisible is rejected",
    arguments: [
      #"{"results":[1,]}"#, #"{"results":[,1]}"#, #"{"results":[1 2]}"#, #"{"results":[1,,2]}"#,
      #"{"results":[1}"#, #"{"results":1}"#, #"{"other":[]}"#, "[]", "<html></html>", "]",
      #"{"results":[],"results":[]}"#, #"{"results":[1}]}"#, "",
    ])
  func malformed(_ text: String) {
    #expect(throws: PeerError.self) { try split(text, pieces: 3) }
  }

  @Test("Reading stops when the receiver has enough")
  func stops() throws {
    var splitter = JSONSplitter(field: nil)
    var count = 0
    let goesOn = try Array("[1,2,3]".utf8).withUnsafeBytes { bytes in
      try splitter.read(bytes) { _ in
        count += 1
        return count < 2
      }
    }
    #expect(!goesOn)
    #expect(count == 2)
  }

  @Test("An element that is too long is rejected before it is complete")
  func limit() {
    var splitter = JSONSplitter(field: nil, maximumElement: 10)
    #expect(throws: PeerError.self) {
      for piece in ["[\"", "1234567890", "1234567890"] {
        _ = try Array(piece.utf8).withUnsafeBytes { try splitter.read($0) { _ in true } }
      }
    }
  }
}
