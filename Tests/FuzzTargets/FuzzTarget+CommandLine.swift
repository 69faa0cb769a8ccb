// SPDX-License-Identifier: MIT

import NanoCLI
import NanoDocument
import NanoStoreCore

extension FuzzTarget {
  /// Parses command-line arguments, one per line, without running the command.
  static let arguments = FuzzTarget("arguments", maximumLength: 200) { bytes in
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    _ = try? Nanostore.command(of: lines)
    for line in lines {
      _ = ArgumentValue.parse(line)
      try require(
        ArgumentValue.parse(ArgumentValue.quoted(line)).string.map {
          $0.utf8.elementsEqual(line.utf8)
        } == true, "Quoted text does not parse as the same text")
    }
  }

  /// Splits and reads import input. Chunk boundaries must not change the records, and errors must be located in the
  /// input.
  static let records = FuzzTarget("records", maximumLength: 400) { bytes in
    let whole = try read(bytes, pieces: bytes.count)
    for pieces in [1, 2, 7] {
      try require(
        try read(bytes, pieces: pieces) == whole,
        "Chunks of \(pieces) bytes change the records")
    }
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, pieces size: Int
  ) throws -> [String] {
    var splitter = RecordSplitter(maximumLength: 300)
    let reader = RecordReader(key: "a", dialect: .extended)
    var writer = JSONWriter()
    var found: [String] = []
    func drain() throws {
      while let record = splitter.next() {
        found.append(
          "\(record.line) \(record.offset) \(record.fault?.message ?? "") \(record.bytes)")
        try require(
          record.offset + record.bytes.count <= bytes.count, "A record ends after the input")
        if case .failure(let failure) = reader.read(record, into: &writer) {
          try require(
            (0...bytes.count).contains(failure.place.byte), "An error is located outside the input")
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

  /// Escapes text for display. No character may control the terminal, and JSON must stay equivalent.
  static let terminal = FuzzTarget("terminal", maximumLength: 200) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let shown = TerminalText.text(text)
    try require(
      !shown.unicodeScalars.contains(where: isActive), "A character controls the terminal")
    let value = DocumentValue.object(DocumentObject([(text, .string(text))]))
    for isPretty in [false, true] {
      let json = TerminalText.json(value.jsonString(pretty: isPretty))
      try require(
        !json.unicodeScalars.contains { isActive($0) && $0 != "\n" },
        "A character in JSON controls the terminal")
      guard case .success(let again) = parsed(json, .extended) else {
        throw Finding(description: "JSON for the terminal does not parse: \(json)")
      }
      try require(isSame(again, value), "JSON for the terminal has a different value")
    }
  }

  /// Returns whether a scalar is a control character or changes the writing direction. The implicit directional marks
  /// affect only adjacent neutral characters and occur in ordinary text.
  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isBidiControl && ![0x061C, 0x200E, 0x200F].contains(scalar.value)
    }
  }
}
