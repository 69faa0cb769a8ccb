// SPDX-License-Identifier: MIT

import Foundation
import NanoSync
import Testing

@Suite("Decompression")
struct GzipInflaterTests {
  /// Compressed by gzip: a text with repetitions, with stored, fixed and dynamic blocks.
  private static let samples: [(name: String, base64: String, length: Int)] = [
    ("short text", "H4sIAAAAAAACA0tMSk4EIwAYSC1GCQAAAA==", 9),
    (
      "stored",
      "H4sIAAAAAAAC/wEsAdP+RCCCPP3m8cJrMPkOx90B5Ih1NKIPCw0Ew27YDnHg/XewdnDrlAvVM1+XParYYZuR/8kR9XzO1Fi7vyzgN1PJvfoP8BadyVdWdAZmds+wtOuJAsRCadoc9rpm0/i21LEAqeoOdVpcLoIQJCoI5wePf4k4XrCUI1VRglaLluik/vI6DJ/Fr9dghDeBa90KcwnLShJS5Npw5nIPyqTaHphAbBicJCeemFHVgUIEE2/rVxPBZrEyad1j/DXHl/8Ips2QCVBmp0Wt222IMcKw+HghFCtEVlVtiaqCvK2uOpV4+kU1pBTQJcJLQK46wSdyKYi6lzrqjTcXlwYHLtM6FGB611I75lV7UTTewZaB9KEzaqIUDQWXo+bIoMwgIKLpOYBu8LaEXWqdZX64KY8tCkH+ViwBAAA=",
      300
    ),
    (
      "dynamic codes",
      "H4sIAAAAAAAC/42UwQ7DMAhDfyW/linVdmilHfb/ahUOtXgx3QW1BLBxIGPbf731/fvp7d2Po7fXdjnGdIcDh/EJR8SFne5p5H8AS1PUKkJkhZWKWuBGu42WQAeZXj5S5NyFllRuZKsxUIshFKBoyagCndftwCtnyldoVOw0GIlsriIiWE5cQ8eMBSC1rLiBUPLhmK6VZ/MClhWoBDVMDaDZSnOHbue4Qu5imMXxNhuMO4G73Do+VGUSJtwMExtCJgpyAP/x56fIrF/1sCmA2X0zqc9rD5WMBIhbX2BefQP9+PKels+wfrcGAAA=",
      1719
    ),
    ("json", "H4sIAAAAAAACA6tWSslPLlayUoiuVorPTAEylKoMlXQUlBKBTMPa2FoAjnJVMCEAAAA=", 33),
  ]

  private func inflate(_ bytes: [UInt8], piece: Int, limit: Int = .max) throws -> [UInt8] {
    let inflater = GzipInflater(limit: limit)
    var output: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      output += try inflater.append(Array(bytes[start..<min(start + piece, bytes.count)]))
    }
    try inflater.finish()
    return output
  }

  @Test("Compressed data expands to what it was, however it is cut", arguments: [1, 2, 3, 7, 100])
  func pieces(_ size: Int) throws {
    for sample in Self.samples {
      let bytes = [UInt8](try #require(Data(base64Encoded: sample.base64)))

      #expect(try inflate(bytes, piece: size).count == sample.length, "\(sample.name)")
    }
    let text = try inflate(
      [UInt8](try #require(Data(base64Encoded: Self.samples[0].base64))), piece: size)
    #expect(String(decoding: text, as: UTF8.self) == "abcabcabc")
  }

  @Test("Two members follow one another")
  func members() throws {
    let one = [UInt8](try #require(Data(base64Encoded: Self.samples[0].base64)))

    #expect(try inflate(one + one, piece: 5).count == 18)
  }

  @Test("Data of another form, damaged data and data that ends early are errors")
  func damaged() throws {
    let bytes = [UInt8](try #require(Data(base64Encoded: Self.samples[3].base64)))
    #expect(throws: GzipInflater.Failure.damaged) { try inflate(Array("{}".utf8), piece: 9) }
    #expect(throws: GzipInflater.Failure.damaged) { try inflate([], piece: 9) }
    for length in 1..<bytes.count {
      #expect(throws: GzipInflater.Failure.damaged) {
        try inflate(Array(bytes[..<length]), piece: 9)
      }
    }
    let plain = try inflate(bytes, piece: 9)
    // Any bit after the header.
    for bit in 80..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      // The bits that fill the last byte have no meaning.
      let result = try? inflate(changed, piece: 9)
      #expect(result == nil || result == plain)
    }
  }

  @Test("Data that expands beyond the limit is an error before it is in memory")
  func limit() throws {
    let zeros = [UInt8](try #require(Data(base64Encoded: Self.megabyteOfZeros)))

    #expect(throws: GzipInflater.Failure.tooLong) { try inflate(zeros, piece: 50, limit: 100_000) }
    #expect(try inflate(zeros, piece: 50) == [UInt8](repeating: 0, count: 1_000_000))
  }

  private static let megabyteOfZeros =
    "H4sIAAAAAAAC/+3BAQEAAACCIP+vbkhAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArwaey3kSQEIPAA=="
}
