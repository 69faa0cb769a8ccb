// SPDX-License-Identifier: MIT

public import Foundation

/// Saved inputs of a target. Each line of the file is a JSON string in which a character below U+0100 represents a
/// byte.
public enum FuzzCorpus {
  /// The total size of the inputs that ``pack(_:size:)`` selects, in bytes. Arbitrary: enough to start with, and
  /// small enough to review.
  public static let defaultSize = 6_000

  /// - Throws: An error if the file is missing or malformed.
  public static func inputs(in file: URL) throws -> [[UInt8]] {
    try String(decoding: Data(contentsOf: file), as: UTF8.self)
      .split(separator: "\n").map { line in
        let text = try JSONDecoder().decode(String.self, from: Data(line.utf8))
        return try text.unicodeScalars.map { scalar in
          guard let byte = UInt8(exactly: scalar.value) else {
            throw Finding(
              description:
                "\(file.lastPathComponent) contains U+\(scalar.value), which does not represent a byte"
            )
          }
          return byte
        }
      }
  }

  /// Returns the text of a corpus file with the inputs in their order.
  public static func text(_ inputs: [[UInt8]]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return try inputs.map { bytes in
      var text = String.UnicodeScalarView()
      for byte in bytes { text.append(Unicode.Scalar(byte)) }
      // Escapes characters that an editor would show as white space or not at all, and that JSON does not escape.
      return String(decoding: try encoder.encode(String(text)), as: UTF8.self).unicodeScalars
        .map { (0x7F...0xA0).contains($0.value) ? Self.escaped($0) : String($0) }
        .joined() + "\n"
    }.joined()
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
  }

  /// Selects inputs from a folder, spread evenly over their lengths, up to a total size in bytes.
  public static func pack(_ folder: URL, size: Int = defaultSize) throws -> [[UInt8]] {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    let inputs = try files.map { [UInt8](try Data(contentsOf: $0)) }
      .sorted {
        ($0.count, $1.count) == ($1.count, $0.count)
          ? $0.lexicographicallyPrecedes($1) : $0.count < $1.count
      }
    let total = inputs.reduce(0) { $0 + $1.count }
    guard total > size else { return inputs }
    var kept: [[UInt8]] = []
    var passed = 0
    var taken = 0
    for input in inputs {
      passed += input.count
      guard taken + input.count <= passed * size / total else { continue }
      taken += input.count
      kept.append(input)
    }
    return kept
  }
}
