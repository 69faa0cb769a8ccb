// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoTestSupport
import Testing

@testable import NanoLegacy

@Suite("Property lists and archives")
struct PropertyListTests {
  private func reason(_ bytes: [UInt8]) -> String? {
    do throws(PropertyListError) {
      _ = try KeyedArchive.value(bytes)
      return nil
    } catch {
      return error.reason
    }
  }

  private static let sample = KeyedArchiveWriter.archive(
    .dictionary([
      ("text", .text("żółć")), ("list", .array([.int(1), .real(0.1), .bool(true), .null])),
      ("date", .date(1)), ("url", .url("https://example.org/")),
      ("decimal", .decimal(12, exponent: -1)),
      ("data", .mutableData(Array(repeating: 7, count: 20))),
    ]))

  @Test("An archive with any byte changed, or cut anywhere, is decoded or rejected")
  func damaged() throws {
    for position in Self.sample.indices {
      for change in [UInt8(1), 0x80, 0xFF, 0x10] {
        var bytes = Self.sample
        bytes[position] ^= change
        _ = reason(bytes)
      }
      #expect(reason(Array(Self.sample.prefix(position))) != nil)
    }
  }

  @Test("Random bytes with the marks of a property list are decoded or rejected")
  func random() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      var bytes = Array("bplist00".utf8)
      bytes += (0..<Int.random(in: 1...80, using: &generator)).map { _ in
        [0x10, 0x5F, 0xA1, 0xD1, 0x81, 0x13, 0x40, .random(in: 0...255, using: &generator)]
          .randomElement(using: &generator)!
      }
      bytes += [0, 0, 0, 0, 0, 0, 1, 1]
      for number in [
        Int.random(in: 0...40), Int.random(in: 0...3), Int.random(in: 8...bytes.count),
      ] {
        bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      }
      _ = reason(bytes)
    }
  }

  @Test("An ASCII text with other bytes is rejected, not repaired")
  func damagedText() {
    var bytes = KeyedArchiveWriter.archive(.dictionary([("text", .text("HELLO"))]))
    #expect(reason(bytes) == nil)
    let position = bytes.firstRange(of: Array("HELLO".utf8))!.lowerBound
    bytes[position + 2] = 0xE9
    #expect(reason(bytes) != nil)
  }

  @Test("A list that contains itself is rejected")
  func cycle() {
    #expect(
      reason(PropertyListWriter.binary(objects: [[0xA1, 0, 0]], root: 0))
        == "the value is nested too deeply, or contains itself")
    let archive = ListValue.dictionary([
      ("$archiver", .text("NSKeyedArchiver")), ("$top", .dictionary([("root", .uid(1))])),
      (
        "$objects",
        .array([
          .text("$null"),
          .dictionary([("$class", .uid(2)), ("NS.objects", .array([.uid(1), .uid(1)]))]),
          .dictionary([("$classname", .text("NSArray"))]),
        ])
      ),
    ])
    #expect(reason(PropertyListWriter.binary(archive)) != nil)
  }

  @Test("A small archive that expands to terabytes is rejected")
  func expansion() {
    // Each array contains the next one many times.
    let levels = 12
    var objects: [[UInt8]] = (0..<levels).map { level -> [UInt8] in
      let references = (0..<32).flatMap { _ in [UInt8(0), UInt8(level + 1)] }
      return [0xAF, 0x11, 0, 32] + references
    }
    objects.append([0x51, 0x61])
    #expect(
      reason(PropertyListWriter.binary(objects: objects, root: 0))
        == "the value is too large when its shared objects are expanded")
  }

  @Test("A small archive that refers to an object with many fields too often is rejected")
  func repeatedFields() {
    func list(of uid: Int) -> ListValue {
      let elements = Array(repeating: ListValue.uid(uid), count: 32)
      return .dictionary([("$class", .uid(5)), ("NS.objects", .array(elements))])
    }
    let text: [(String, ListValue)] = [("$class", .uid(6)), ("NS.string", .text("a"))]
    let more = (0..<50).map { ("f\($0)", ListValue.bool(true)) }
    let objects: [ListValue] = [
      .text("$null"), list(of: 2), list(of: 3), list(of: 4),
      .dictionary(text + more),
      .dictionary([("$classname", .text("NSArray"))]),
      .dictionary([("$classname", .text("NSString"))]),
    ]
    let archive = ListValue.dictionary([
      ("$archiver", .text("NSKeyedArchiver")), ("$top", .dictionary([("root", .uid(1))])),
      ("$objects", .array(objects)),
    ])

    #expect(
      reason(PropertyListWriter.binary(archive))
        == "the value is too large when its shared objects are expanded")
  }

  @Test("Values nested as deeply as a document may be are read, deeper ones rejected")
  func depth() {
    func nested(_ levels: Int) -> [UInt8] {
      Array("<plist>".utf8) + Array(String(repeating: "<array>", count: levels).utf8)
        + Array(String(repeating: "</array>", count: levels).utf8) + Array("</plist>".utf8)
    }
    #expect(reason(nested(512)) == nil)
    #expect(reason(nested(513)) != nil)
    #expect(reason(nested(100_000)) != nil)
  }

  @Test("XML that is no property list is rejected, and entities are not expanded")
  func xml() {
    for text in [
      "<plist>", "<plist></plist>", "<plist><dict><key>a</key></dict></plist>",
      "<plist><string>&lol;</string></plist>", "<plist><integer>1x</integer></plist>",
      "<plist><date>2009-13-01T00:00:00Z</date></plist>", "<plist><data>*</data></plist>",
      "<plist><set/></plist>", "<plist><true/></plist><plist/>", "<plist><string>a</plist>",
      "<!DOCTYPE plist [<!ENTITY a \"aaaa\">]><plist><string>&a;</string></plist>",
    ] {
      #expect(reason(Array(text.utf8)) != nil, "\(text)")
    }
  }

  @Test(
    "Dates of property lists are seconds since 2001",
    arguments: [
      ("2001-01-01T00:00:00Z", 0.0), ("2000-12-31T23:59:59Z", -1),
      ("2009-04-01T12:34:56Z", 260_282_096),
      ("1970-01-01T00:00:00Z", -978_307_200), ("0001-01-01T00:00:00Z", -63_113_904_000),
      ("2400-02-29T00:00:00Z", 12_596_256_000),
    ])
  func dates(text: String, seconds: Double) {
    #expect(CivilDate.seconds(ofPropertyList: text) == seconds)
  }

  @Test(
    "A year of the Japanese calendar is of the latest era in which it is not in the future",
    arguments: [
      ("0024-05-28 17:24:33:512", 1_338_225_873_512_000),
      ("0002-05-28 00:00:00:000", 1_590_624_000_000_000),
      ("0031-04-01 00:00:00:000", 1_554_076_800_000_000), ("2012-05-28 17:24:33:512", nil),
    ] as [(String, Int64?)])
  func japaneseEras(text: String, microseconds: Int64?) {
    var calendar = Calendar(identifier: .japanese)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    // 2026-01-01, year 8 of Reiwa.
    let now = Date(timeIntervalSince1970: 1_767_225_600)

    #expect(CivilDate.microseconds(ofSave: text, calendar, now: now) == microseconds)
  }

  @Test("A relative URL whose base is not valid is stored as its own text, and counted once")
  func invalidBase() throws {
    let archive = KeyedArchiveWriter.archive(
      .dictionary([("url", .url("page.html", base: .url("http://h/<ż>")))]))
    let content = try KeyedArchive.document(archive)
    #expect(content.object == ["url": "page.html"])
    #expect(content.notes.counts == [.urlAsText: 1])
  }

  @Test(
    "Dates beyond the year 9999 and URLs that are not valid are stored in another form, and noted")
  func conversions() throws {
    let archive = KeyedArchiveWriter.archive(
      .dictionary([
        ("far", .date(1e12)), ("url", .url("not a url <ż>")),
        ("set", .instance(["NSMutableSet", "NSSet"], [("NS.objects", .array([]))], [])),
      ]))
    let content = try KeyedArchive.document(archive)
    #expect(content.object == ["far": .double(1e12), "url": "not a url <ż>", "set": []])
    #expect(content.notes.counts == [.dateOutOfRange: 1, .urlAsText: 1, .setAsArray: 1])
  }
}
