// SPDX-License-Identifier: MIT

import NanoCLI
import NanoDocument
import NanoStoreCore

extension FuzzTarget {
  /// The arguments of the command line tool, one a line: they are understood or refused, and nothing of it is done.
  static let arguments = FuzzTarget("arguments", maximumLength: 200) { bytes in
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    _ = try? Nanostore.command(of: lines)
    for line in lines {
      _ = ArgumentValue.parse(line)
      try require(
        ArgumentValue.parse(ArgumentValue.quoted(line)).string.map {
          $0.utf8.elementsEqual(line.utf8)
        } == true, "Quoted text is not itself")
    }
  }

  /// The input of an import: how it comes in pieces makes no difference, and errors stand inside of it.
  static let records = FuzzTarget("records", maximumLength: 400) { bytes in
    let whole = try read(bytes, pieces: bytes.count)
    for pieces in [1, 2, 7] {
      try require(
        try read(bytes, pieces: pieces) == whole,
        "Records in pieces of \(pieces) bytes are other records")
    }
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, pieces size: Int
  ) throws -> [String] {
    var splitter = RecordSplitter(maximumLength: 300)
    let reader = RecordReader(key: "a", dialect: .extended)
    var found: [String] = []
    func drain() throws {
      while let record = splitter.next() {
        found.append(
          "\(record.line) \(record.offset) \(record.fault?.message ?? "") \(record.bytes)")
        try require(
          record.offset + record.bytes.count <= bytes.count, "A record stands behind the end")
        if case .failure(let failure) = reader.read(record) {
          try require(
            (0...bytes.count).contains(failure.place.byte), "An error stands outside the input")
        }
      }
    }
    for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
      splitter.append(
        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + size, bytes.count)]))
      try drain()
    }
    splitter.finish()
    try drain()
    return found
  }

  /// What is shown to a person: no character of it acts on the terminal, and JSON stays the same JSON.
  static let terminal = FuzzTarget("terminal", maximumLength: 200) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let shown = TerminalText.text(text)
    try require(!shown.unicodeScalars.contains(where: isActive), "A character acts on the terminal")
    let value = DocumentValue.object(DocumentObject([(text, .string(text))]))
    for isPretty in [false, true] {
      let json = TerminalText.json(value.jsonString(pretty: isPretty))
      try require(
        !json.unicodeScalars.contains { isActive($0) && $0 != "\n" },
        "A character in JSON acts on the terminal")
      guard case .success(let again) = parsed(json, .extended) else {
        throw Finding(description: "JSON for a terminal is none: \(json)")
      }
      try require(isSame(again, value), "JSON for a terminal is other JSON")
    }
  }

  /// Control characters, and those that turn the direction of writing. The marks for a direction turn nothing but
  /// neutral characters beside them, and stand in ordinary texts.
  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isBidiControl && ![0x061C, 0x200E, 0x200F].contains(scalar.value)
    }
  }
}
