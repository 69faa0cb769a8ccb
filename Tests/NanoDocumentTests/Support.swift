// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A random number generator that repeats its sequence for the same seed, which a failing test prints.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SplitMix {
  mutating func double() -> Double {
    while true {
      let value =
        switch Int.random(in: 0..<5, using: &self) {
        case 0: Double(bitPattern: next())
        case 1: Double(Int.random(in: -1_000_000_000...1_000_000_000, using: &self)) / 1000
        case 2: Double(Int.random(in: 0...1 << 50, using: &self)) / 1e4
        case 3: Double(Int64(bitPattern: next()))
        default:
          [0, -0.0, 1, .infinity, -.infinity, .pi, .leastNonzeroMagnitude, 1e22, 1e23][
            Int.random(in: 0..<9, using: &self)]
        }
      if !value.isNaN { return value }
    }
  }

  mutating func date() -> Date {
    let reach = [1e-9, 1, 1e4, 1e7, 1e9, 6e10][Int.random(in: 0..<6, using: &self)]
    return Date(timeIntervalSinceReferenceDate: .random(in: -reach...reach, using: &self))
  }

  mutating func text() -> String {
    let pieces = [
      "a", "Z", " ", "\"", "\\", "/", "\u{0}", "\u{1}", "\n", "\t", "\u{8}", "\u{C}", "\r",
      "\u{7F}", "é", "ß", "中", "\u{FFFF}", "😀", "👩‍👩‍👧", "\u{10FFFF}", "$", "{\"$date\":", "abcdefgh",
      "0123456789",
    ]
    let count = Int.random(in: 0..<12, using: &self)
    return (0..<count).map { _ in pieces.randomElement(using: &self)! }.joined()
  }

  mutating func name() -> String {
    let names = ["$", "$$", "$date", "$set", "$$x", "name", "a.b", "", "$binary", "$url", "base64"]
    return Bool.random(using: &self) ? names.randomElement(using: &self)! : text()
  }

  mutating func value(depth: Int = 0) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 5 ? 8 : 11), using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .int(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self))
    case 3: return .double(double())
    case 4: return .string(text())
    case 5: return .date(date())
    case 6: return .data(Data((0..<Int.random(in: 0..<9, using: &self)).map { UInt8($0 * 30) }))
    case 7:
      let base = URL(string: "https://example.com/a/b?q=1#f")!
      return .url(Bool.random(using: &self) ? base : URL(string: "c/d", relativeTo: base)!)
    case 8:
      let count = Int.random(in: 0..<5, using: &self)
      return .array((0..<count).map { _ in value(depth: depth + 1) })
    default: return .object(object(depth: depth + 1))
    }
  }

  mutating func object(depth: Int = 0) -> DocumentObject {
    var object = DocumentObject()
    let count = Int.random(
      in: 0..<(Int.random(in: 0..<20, using: &self) == 0 ? 40 : 6), using: &self)
    for _ in 0..<count { object[name()] = value(depth: depth) }
    return object
  }
}

func storedText(_ value: DocumentValue) -> String {
  var writer = JSONWriter(capacity: 1)
  writer.value(value)
  return writer.text
}

func stored(_ text: String) throws -> DocumentValue {
  try Array(text.utf8).withUnsafeBytes { bytes in
    var reader = JSONReader(bytes)
    let value = try reader.value()
    guard reader.isAtEnd else { throw StoreError(.corruptDocument, "Something follows") }
    return value
  }
}

/// Returns arrays nested to the specified depth.
func nested(_ depth: Int) -> DocumentValue {
  (1..<depth).reduce(DocumentValue.array([])) { value, _ in .array([value]) }
}
