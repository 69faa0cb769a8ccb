// SPDX-License-Identifier: MIT

import NanoSync
import Testing

@Suite("Multipart messages")
struct MultipartReaderTests {
  private func reader(_ text: String, piece: Int) -> MultipartReader {
    var rest = Array(text.utf8)[...]
    return MultipartReader(boundary: "B") {
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(piece) }
      return Array(rest.prefix(piece))
    }
  }

  private static let message =
    "preamble\r\n--B\r\nContent-Type: a/b\r\nX: y: z\r\n\r\nfirst\r\n--\r\n--C\r\n--B  \r\n\r\n\r\n--B\r\nA: 1\r\n\r\nlast\r\n--B--\r\nepilogue"

  @Test("Parts have their headers and bytes, however the message is cut", arguments: 1...20)
  func pieces(_ size: Int) async throws {
    let reader = reader(Self.message, piece: size)

    let first = try #require(try await reader.nextPart())
    let firstBytes = try await reader.collect(limit: 100)
    let second = try #require(try await reader.nextPart())
    let secondBytes = try await reader.collect(limit: 100)
    let third = try #require(try await reader.nextPart())
    let thirdBytes = try await reader.collect(limit: 100)

    #expect(first.map(\.name) == ["content-type", "x"])
    #expect(first.map(\.value) == ["a/b", "y: z"])
    #expect(String(decoding: firstBytes, as: UTF8.self) == "first\r\n--\r\n--C")
    #expect(second.isEmpty && secondBytes.isEmpty)
    #expect(third.map(\.value) == ["1"])
    #expect(String(decoding: thirdBytes, as: UTF8.self) == "last")
    let end = try await reader.nextPart()
    #expect(end == nil)
  }

  @Test("A part that is not read is skipped")
  func skip() async throws {
    let reader = reader("--B\r\n\r\none\r\n--B\r\n\r\ntwo\r\n--B--", piece: 3)

    _ = try await reader.nextPart()
    _ = try await reader.nextPart()

    #expect(try await reader.collect(limit: 10) == Array("two".utf8))
  }

  @Test("A part beyond the limit, and headers without end, are errors")
  func limits() async throws {
    let long = reader("--B\r\n\r\n" + String(repeating: "x", count: 100) + "\r\n--B--", piece: 7)
    _ = try await long.nextPart()
    await #expect(throws: MultipartReader.Malformed.self) { _ = try await long.collect(limit: 10) }
    let headers = reader("--B\r\nX: " + String(repeating: "x", count: 50_000), piece: 1_000)
    await #expect(throws: MultipartReader.Malformed.self) { _ = try await headers.nextPart() }
  }

  @Test("The boundary is a parameter of the content type, quoted or not")
  func boundary() {
    #expect(MultipartReader.boundary(of: #"multipart/related; boundary="a b""#) == "a b")
    #expect(MultipartReader.boundary(of: "Multipart/Mixed;charset=x; Boundary=ab") == "ab")
    #expect(MultipartReader.boundary(of: "application/json; boundary=ab") == nil)
    #expect(MultipartReader.boundary(of: "multipart/related") == nil)
  }
}
