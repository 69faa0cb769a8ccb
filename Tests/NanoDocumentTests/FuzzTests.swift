// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Fuzzing the document parsers")
struct FuzzTests {
  struct Shape: Codable {
    struct Inner: Codable {
      var x: Int?
      var list: [String]?
    }
    var name: String?
    var born: Date?
    var inner: Inner?
    var list: [Inner]?
    var blob: Data?
    var any: DocumentValue?
    var map: [String: Double]?
  }

  private static let seedText =
    #"{"name":"Ada \"L\" \u00e9 é😀","born":{"$date":"1815-12-10T00:00:00.000000000Z"},"inner":{"x":12,"list":["a","b"]},"list":[{"x":1},{"x":-2.0,"list":[]}],"blob":{"$binary":{"base64":"AQID","subType":"00"}},"any":[1,2.5e10,null,{"$url":"http://a.example"},{"$numberDouble":"NaN"}],"map":{"$$a":1.0,"b":2}}"#

  @Test("20,000 random byte mutations cause no crash, and parsed values round-trip")
  func mutations() throws {
    let original = Array(Self.seedText.utf8)
    let interesting = Array("\"\\{}[]:,$u0-.eE \u{0}\u{1F}".utf8) + [0x80, 0xC0, 0xED, 0xF5, 0xFF]
    let decoder = DocumentDecoder()
    let name = StoredName("map")
    var random = SplitMix(seed: 20_000)
    for round in 0..<20_000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[at] = interesting.randomElement(using: &random)!
        case 2: bytes.remove(at: at)
        default: bytes.insert(interesting.randomElement(using: &random)!, at: at)
        }
      }
      bytes.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        _ = try? reader.value()
        reader = JSONReader(bytes)
        _ = try? reader.skipValue()
        reader = JSONReader(bytes)
        _ = try? reader.findField(name)
        _ = try? decoder.decode(Shape.self, from: bytes)
        if let value = try? DocumentValue(json: bytes) {
          // Only invalid content of an extended value may be dropped, and that is an error in the parser.
          #expect(value.object?.contains { $0.value == .double(.nan) } != true)
          #expect(
            (try? DocumentValue(json: storedText(value)))?.jsonString() == value.jsonString(),
            "round \(round)")
        }
        _ = try? DocumentValue(json: bytes, dialect: .plain)
      }
    }
  }

  @Test("Random bytes cause no crash")
  func noise() {
    var random = SplitMix(seed: 3)
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        Array("\"\\{}[]:,$1-.eEtfn ".utf8).randomElement(using: &random)!
      }
      bytes.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        _ = try? reader.value()
        reader = JSONReader(bytes)
        _ = try? reader.date()
        reader = JSONReader(bytes)
        _ = try? reader.data()
        _ = try? DocumentDecoder().decode(Shape.self, from: bytes)
        _ = try? DocumentDecoder().decode([[Int]].self, from: bytes)
        _ = try? DocumentValue(json: bytes)
      }
    }
  }
}
