// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

extension FuzzTarget {
  /// Parses a CSV file. Chunk boundaries must not change the documents, errors must be located in the input, and each
  /// document must be in stored form.
  static let csv = FuzzTarget("csv", maximumLength: 300) { bytes in
    for options in [CSVOptions(), CSVOptions(infersQuotedFields: true, acceptsShortRows: true)] {
      let whole = try records(bytes, options, pieces: bytes.count)
      for pieces in [1, 2, 7] {
        try require(
          try records(bytes, options, pieces: pieces) == whole,
          "Chunks of \(pieces) bytes change the records")
      }
    }
  }

  private static func records(
    _ bytes: UnsafeRawBufferPointer, _ options: CSVOptions, pieces size: Int
  ) throws -> [String] {
    var parser = try CSVParser(options, keyField: nil, maximumLength: 200)
    var writer = JSONWriter()
    var found: [String] = []
    func drain() throws {
      while true {
        writer.removeAll()
        switch parser.next(into: &writer) {
        case nil: return
        case .failure(let failure):
          try require(
            (0...bytes.count).contains(failure.place.byte), "An error is located outside the input")
          found.append("\(failure.place) \(failure.error.debugDescription) \(failure.isFatal)")
        case .document(let header, let place):
          try require(
            try CanonicalBody.rewritten(writer.bytes) == nil, "\(writer.text) is not in stored form"
          )
          found.append("\(place) \(header.key?.description ?? "") \(writer.text)")
        }
      }
    }
    for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
      parser.append(
        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + size, bytes.count)]))
      try drain()
    }
    parser.finish()
    try drain()
    return found
  }
}
