// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import NanoTestSupport
import Testing

@testable import NanoLegacy

@Suite("Import of NanoStore for Objective-C")
struct NanoStoreImportTests {
  private let folder = try! Scratch()
  private var url: URL { URL(filePath: folder.file("old.nanostore")) }
  private static let utc = LegacyImportOptions(timeZone: TimeZone(secondsFromGMT: 0)!)

  @Test("A file of the original is imported with every document, class, date and bag")
  func fixture() throws {
    let expected = try LegacyFixtures.description("nanostore/nano-small.json")
    let store = try anyStore()
    let report = try store.importLegacy(from: LegacyFixtures.nanoStore, options: Self.utc)

    let objects = store["objects"]
    let documents = (expected["objects"]?.array ?? []).compactMap(\.object)
    #expect(try objects.count() == documents.count)
    for described in documents {
      let key = try #require(described["key"]?.string)
      let document = try #require(try objects.get(key))
      let type = described["class"]?.string
      #expect(document.type == (type == "NSFNanoObject" ? nil : type))
      let content = try LegacyFixtures.value(described["content"])
      #expect(DocumentValue.object(try document.object()).sortedByName == content.sortedByName)
      #expect(document.added.map { $0 > Date(timeIntervalSince1970: 1_700_000_000) } == true)
    }
    let bags = try #require(expected["bags"]?.array).compactMap(\.object)
    #expect(try store.bags().count == bags.count)
    for described in bags {
      let key = try #require(described["key"]?.string)
      let bag = try #require(try store.bag(key: key))
      #expect(bag.name == described["name"]?.string)
      // The archives list the keys in this order.
      #expect(try bag.saved.keys() == described["objectKeys"]?.array?.compactMap(\.string))
    }
    #expect(report.imported == documents.count + bags.count)
    #expect(report.skipped == 0)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A file whose definition of documents is damaged is imported as far as its rows show",
    arguments: ["CREATE TABLE NSFKeys", "TEXT, NSFKeyedArchive"])
  func damagedDefinition(text: String) throws {
    let old = try LegacyDatabase.nanoStore(url)
    for number in 0..<3 { try old.add("k\(number)", .dictionary([("n", .int(Int64(number)))])) }
    old.close()
    var bytes = try Data(contentsOf: url)
    let place = try #require(bytes.firstRange(of: Data(text.utf8)))
    bytes[place.lowerBound + 4] = text.hasPrefix("CREATE") ? 0xFF : 0x01
    try bytes.write(to: url)

    let store = try anyStore()
    let report = try store.importLegacy(from: url)

    #expect(report.imported == 3)
    #expect(report.notes.contains("the definition of a table is damaged"))
    #expect(try store["objects"].get("k2")?["n"] == 2)
    #expect(try store["objects"].get("k2")?.type == nil)
  }

  @Test("Inspecting a file counts its rows by class")
  func inspection() throws {
    let summary = try LegacyStore.inspect(LegacyFixtures.nanoStore)
    #expect(summary.kind == .nanoStore)
    #expect(summary.version == "2.5 or later")
    #expect(summary.classes.map(\.name) == ["Car", "NSFNanoBag", "NSFNanoObject", "Person"])
    #expect(summary.classes.map(\.records) == [1, 3, 9, 2])
    #expect(summary.notes.isEmpty)
  }

  @Test("Every shape of a keyed archive keeps its type and value")
  func shapes() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try old.add(
      "all",
      .dictionary([
        ("text", .mutableText("żółć 🎈")), ("int", .int(.min)), ("real", .real(5)),
        ("yes", .bool(true)), ("no", .bool(false)), ("data", .data([0, 255])),
        ("mutableData", .mutableData([1, 2])), ("date", .date(-1_000.25)), ("null", .null),
        ("url", .url("a/b?c", base: .url("https://example.org/x/"))),
        ("decimal", .decimal(123, exponent: -2)),
        ("long", .decimal(1_234_567_890_123_456_789, exponent: -10)),
        ("whole", .decimal(7, exponent: 2, isNegative: true)),
        ("nested", .array([.dictionary([("a.b", .array([]))])])), ("empty", .dictionary([])),
      ]))
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url, options: Self.utc)
    let document = try #require(try store["objects"].get("all"))
    #expect(
      try document.object() == [
        "text": "żółć 🎈", "int": .int(.min), "real": .double(5), "yes": true, "no": false,
        "data": .data(Data([0, 255])), "mutableData": .data(Data([1, 2])),
        "date": .date(Date(timeIntervalSinceReferenceDate: -1_000.25)), "null": nil,
        "url": .url(URL(string: "a/b?c", relativeTo: URL(string: "https://example.org/x/"))!),
        "decimal": .double(1.23), "long": "123456789.0123456789", "whole": .int(-700),
        "nested": [["a.b": []]], "empty": [:],
      ])
    #expect(document.added == Date(timeIntervalSinceReferenceDate: 359_918_673.512))
    #expect(report["NSFNanoObject"]?.conversions == [.decimalNumber: 3, .nameWithPeriod: 1])
  }

  @Test(
    "Property lists in XML are read, with blanks, comments, entities and CDATA",
    arguments: ["NSFPlist TEXT", "NSFPlist BLOB"])
  func xml(column: String) throws {
    let old = try LegacyDatabase.nanoStore(url, content: column)
    try old.add(
      "xml",
      content: .text(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><!-- a comment --><dict>
          <key>name</key><string>A &amp; B &#x17C;<![CDATA[<c>]]></string>
          <key>n</key><integer>-42</integer><key>big</key><integer>18446744073709551615</integer>
          <key>r</key><real>5</real><key>t</key><true/><key>f</key><false/>
          <key>when</key><date>2009-04-01T12:34:56Z</date><key>data</key><data>
            AP8=
          </data><key>list</key><array><string/><dict/></array>
        </dict></plist>
        """))
    try old.add("empty", content: .text(""))
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url, options: Self.utc)
    #expect(
      try store["objects"].get("xml")?.object() == [
        "name": "A & B ż<c>", "n": -42, "big": "18446744073709551615", "r": .double(5), "t": true,
        "f": false, "when": .date(Date(timeIntervalSince1970: 1_238_589_296)),
        "data": .data(Data([0, 255])), "list": ["", [:]],
      ])
    #expect(report["NSFNanoObject"]?.skippedRecords.map(\.reason) == ["the content is empty"])
    #expect(try LegacyStore.inspect(url).version == "2.0 to 2.2")
  }

  @Test("Binary property lists without an archive, and archives in XML, are read")
  func otherFormats() throws {
    let old = try LegacyDatabase.nanoStore(url)
    let list = ListValue.dictionary([
      ("u", .unsigned(.max)), ("f", .float(1.5)), ("d", .date(1)),
      ("x", .array([.text("ż"), .int(-1)])),
    ])
    try old.add("binary", content: .blob(PropertyListWriter.binary(list)))
    try old.add(
      "xml",
      content: .text(
        """
        <plist><dict><key>$archiver</key><string>NSKeyedArchiver</string>
        <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>
        <key>$objects</key><array><string>$null</string><dict>
          <key>$class</key><dict><key>CF$UID</key><integer>2</integer></dict>
          <key>NS.keys</key><array><dict><key>CF$UID</key><integer>3</integer></dict></array>
          <key>NS.objects</key><array><dict><key>CF$UID</key><integer>3</integer></dict></array>
        </dict><dict><key>$classname</key><string>NSDictionary</string></dict><string>same</string></array>
        </dict></plist>
        """))
    old.close()

    let store = try anyStore()
    try store.importLegacy(from: url)
    #expect(
      try store["objects"].get("binary")?.object() == [
        "u": "18446744073709551615", "f": .double(1.5),
        "d": .date(Date(timeIntervalSinceReferenceDate: 1)), "x": ["ż", -1],
      ])
    #expect(try store["objects"].get("xml")?.object() == ["same": "same"])
  }

  @Test("Bags keep order, names and nesting, and lose members that no longer exist")
  func bags() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try old.addBag("outer", named: "Outer", ["b", "inner", "gone", "a", "outer", "b"])
    try old.add("a", .dictionary([("n", .int(1))]))
    try old.add("b", .dictionary([("n", .int(2))]))
    try old.addBag("inner", named: nil, ["a"])
    try old.add("extended", .dictionary([("color", .text("red"))]), class: "NSFNanoBag")
    try old.addBag("custom", named: "Mine", ["a"], class: "MyBag")
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)
    let outer = try #require(try store.bag(key: "outer"))
    #expect(try outer.saved.members().map(\.key) == ["b", "inner", "a", "outer"])
    #expect(try outer.saved.members().map(\.isBag) == [false, true, false, true])
    #expect(try store.bag(key: "inner")?.saved.keys() == ["a"])
    #expect(try store.bag(key: "inner")?.name == nil)
    #expect(try store.bags(named: "Mine").first?.saved.keys() == ["a"])
    // A class of the application may have behavior that a bag does not have.
    #expect(try store["objects"].get("custom")?.type == "MyBag")
    #expect(try store["objects"].get("extended")?["color"] == "red")
    #expect(report["NSFNanoBag"]?.conversions == [.droppedMember: 2, .customBag: 1])
    #expect(report["MyBag"]?.conversions == [.customBag: 1])
    #expect(try store.verify().isEmpty)
  }

  @Test("Of several rows with one key the last one is imported", arguments: [1, 2, 1_000])
  func duplicates(batch: Int) throws {
    let old = try LegacyDatabase.nanoStore(url)
    for number in 1...3 {
      try old.add(
        "same", .dictionary([("n", .int(Int64(number)))]), saved: "201\(number)-01-01 00:00:00:000")
      try old.add("other\(number)", .dictionary([]))
    }
    try old.addBag("bag", named: "first", ["other1"])
    try old.addBag("bag", named: "last", ["other2", "same"])
    old.close()

    let store = try anyStore()
    var options = Self.utc
    options.batchDocuments = batch
    let report = try store.importLegacy(from: url, options: options)
    let same = try #require(try store["objects"].get("same"))
    #expect(try same.object() == ["n": 3])
    #expect(same.added == Date(timeIntervalSince1970: 1_356_998_400))
    #expect(try store["objects"].count() == 4)
    #expect(report["NSFNanoObject"]?.imported == 4)
    #expect(report["NSFNanoObject"]?.conversions == [.duplicateKey: 2])
    #expect(try store.bags().count == 1)
    #expect(try store.bag(named: "last").saved.keys() == ["other2", "same"])
  }

  @Test("Rows without a key, a class or a date are imported, and unreadable ones listed")
  func damagedRows() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try old.add(nil, .dictionary([("n", .int(1))]), class: nil, saved: "never")
    try old.add("text", content: .text("no archive"))
    try old.add("null", content: .null)
    try old.add(
      "cut",
      content: .blob(Array(KeyedArchiveWriter.archive(.dictionary([("n", .int(1))])).dropLast(9))))
    try old.add("array", .array([.int(1)]))
    try old.add("unknown", .dictionary([("x", .instance(["Secret", "NSObject"], [], []))]))
    try old.add("good", .dictionary([("n", .int(2))]))
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)
    let result = try #require(report["NSFNanoObject"])
    #expect(try store["objects"].find(Field("n") == 1).first()?.type == nil)
    #expect(try store["objects"].count() == 2)
    #expect(result.conversions == [.generatedKey: 1, .unknownDate: 1])
    #expect(result.skipped == 5)
    #expect(result.skippedRecords.map(\.key) == ["text", "null", "cut", "array", "unknown"])
    #expect(result.skippedRecords.map(\.position) == ["row 2", "row 3", "row 4", "row 5", "row 6"])
    #expect(result.skippedRecords[3].reason == "the value is not a dictionary")
  }

  @Test("An unreadable document is rebuilt from the table of values on request")
  func rebuilding() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try old.add("broken", content: .blob([1, 2, 3]))
    for (path, value, type) in [
      ("name", LegacyDatabase.Value.text("007"), "TEXT"), ("address.city", .text("Paris"), "TEXT"),
      ("tags", .text("a"), "TEXT"), ("tags", .text("b"), "TEXT"), ("age", .int(5), "REAL"),
      ("home", .text("https://example.org/"), "URL"), ("none", .null, "NULL"),
    ] {
      try old.run(
        "INSERT INTO NSFValues VALUES (NULL, 'broken', ?, ?, ?)", [.text(path), value, .text(type)])
    }
    old.close()

    #expect(try anyStore().importLegacy(from: url).skipped == 1)
    let store = try anyStore()
    let report = try store.importLegacy(
      from: url, options: LegacyImportOptions(rebuildsFromIndex: true))
    #expect(
      try store["objects"].get("broken")?.object() == [
        // Text that looks like a number became a number in the table.
        "name": "7", "address": ["city": "Paris"], "tags": ["a", "b"], "age": 5,
        "home": .url(URL(string: "https://example.org/")!), "none": nil,
      ])
    #expect(report["NSFNanoObject"]?.conversions == [.rebuiltFromIndex: 1])
  }

  @Test("A document is rebuilt with all values of its arrays, or not at all")
  func rebuildingArrays() throws {
    let old = try LegacyDatabase.nanoStore(url)
    let deep = Array(repeating: "a", count: DocumentValue.maximumDepth).joined(separator: ".")
    let rows: [(key: String, path: String, value: Int64)] = [
      ("mixed", "tags", 1), ("mixed", "tags.k", 2), ("mixed", "tags.l", 3), ("mixed", "tags", 4),
      ("mixed", "tags.k", 5), ("nested", "list.k", 1), ("nested", "list", 2),
      ("nested", "list.k", 3), ("deep", "n", 1), ("deep", deep, 2), ("deep", "n", 3),
    ]
    for key in ["mixed", "nested", "deep"] { try old.add(key, content: .blob([1, 2, 3])) }
    for row in rows {
      try old.run(
        "INSERT INTO NSFValues VALUES (NULL, ?, ?, ?, 'REAL')",
        [.text(row.key), .text(row.path), .int(row.value)])
    }
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(
      from: url, options: LegacyImportOptions(rebuildsFromIndex: true))

    let objects = store["objects"]
    #expect(
      try objects.get("mixed")?.object() == ["tags": [1, ["k": 2, "l": 3], 4, ["k": 5]]])
    #expect(try objects.get("nested")?.object() == ["list": [["k": 1], 2, ["k": 3]]])
    #expect(report.skipped == 1)
    #expect(report["NSFNanoObject"]?.conversions == [.rebuiltFromIndex: 2])

    let source = try SQLiteSource(url.path)
    let rebuilder = NanoStoreRebuilder(source, maximumValues: 6)
    rebuilder.collect([ExactName("mixed"), ExactName("nested")])
    #expect(rebuilder.object("mixed")?["tags"]?.array?.count == 4)
    #expect(rebuilder.object("nested") == nil)
  }

  @Test("Dates of saves are local times of the device, in its calendar and digits")
  func dates() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try old.add("a", .dictionary([]), saved: "2012-05-28 17:24:33:512")
    try old.add("b", .dictionary([]), saved: "٢٠١٢-٠٥-٢٨ ١٧:٢٤:٣٣:٥١٢")
    try old.add("c", .dictionary([]), saved: "2555-05-28 17:24:33:512")
    old.close()

    func added(_ key: String, _ options: LegacyImportOptions) throws -> Date? {
      let store = try anyStore()
      try store.importLegacy(from: url, options: options)
      return try store["objects"].get(key)?.added
    }
    let moment = Date(timeIntervalSinceReferenceDate: 359_918_673.512)
    let plusTwo = TimeZone(secondsFromGMT: 7_200)!
    #expect(try added("a", LegacyImportOptions(timeZone: plusTwo)) == moment - 7_200)
    #expect(try added("b", Self.utc) == moment)
    #expect(
      try added(
        "c", LegacyImportOptions(timeZone: TimeZone(secondsFromGMT: 0)!, calendar: .buddhist))
        == moment)
  }

  @Test(
    "Files in UTF-16, with and without indexes, are read",
    arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
  func encodings(encoding: String) throws {
    let old = try LegacyDatabase.nanoStore(url, pragmas: "PRAGMA encoding = '\(encoding)'")
    try old.run(
      """
      CREATE INDEX NSFValues_NSFKey_IDX ON NSFValues(NSFKey);
      CREATE UNIQUE INDEX NSFKeys_NSFKey_IDX ON NSFKeys(NSFKey);
      CREATE INDEX NSFKeys_NSFObjectClass_IDX ON NSFKeys(NSFObjectClass);
      CREATE TABLE other(a, b);
      """)
    for number in 0..<500 {
      try old.add("ключ \(number)", .dictionary([("n", .int(Int64(number)))]), class: "Élan")
    }
    old.close()

    let store = try anyStore()
    try store.importLegacy(from: url)
    #expect(try store["objects"].count() == 500)
    #expect(try store["objects"].get("ключ 499")?.object() == ["n": 499])
    #expect(try store["objects"].types() == ["Élan"])
  }

  @Test("An unreadable bag is rebuilt with its members, also a single one, by a resumed import too")
  func rebuildingBags() throws {
    let old = try LegacyDatabase.nanoStore(url)
    for key in ["a", "b"] { try old.add(key, .dictionary([])) }
    for (key, members) in [("one", ["a"]), ("two", ["b", "a"])] {
      try old.add(key, content: .blob([1, 2, 3]), class: "NSFNanoBag")
      let fields =
        [("NSFKey", key), ("Name", "bag \(key)")] + members.map { ("NSFObjectKeys", $0) }
      for (name, value) in fields {
        try old.run(
          "INSERT INTO NSFValues VALUES (NULL, ?, ?, ?, 'TEXT')",
          [.text(key), .text("NSF_Private_NSFNanoBag_\(name)"), .text(value)])
      }
    }
    old.close()

    struct Stop: Error {}
    let store = try anyStore()
    let options = LegacyImportOptions(rebuildsFromIndex: true, isResumable: true)
    #expect(throws: Stop.self) {
      // The members are read in the second half.
      try store.importLegacy(from: url, options: options) { if $0.fraction == 0.5 { throw Stop() } }
    }
    let report = try store.importLegacy(from: url, options: options)

    #expect(report.isResumed)
    #expect(try store.bag(named: "bag one").saved.keys() == ["a"])
    #expect(try store.bag(named: "bag two").saved.keys() == ["b", "a"])
    #expect(report["NSFNanoBag"]?.conversions == [.rebuiltFromIndex: 2])
  }

  @Test("Documents that have expired are imported into a collection with an expiration rule")
  func expired() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try old.add("past", .dictionary([("validUntil", .date(0))]))
    try old.add("always", .dictionary([("n", .int(1))]))
    old.close()

    let store = try anyStore()
    try store["coupons"].setExpirationRule(.field("validUntil"))
    let report = try store.importLegacy(
      from: url, options: LegacyImportOptions(collection: "coupons"))

    #expect(report.imported == 2)
    #expect(try store["coupons"].find().fetch().map(\.key) == ["always"])
  }

  @Test("The report names the collection of a class whose first row has a later version")
  func collectionOfDuplicates() throws {
    let old = try LegacyDatabase.nanoStore(url)
    for _ in 1...2 { try old.add("same", .dictionary([("n", .int(1))]), class: "Car") }
    old.close()

    let report = try anyStore().importLegacy(from: url)

    #expect(report["Car"]?.collection == "objects")
  }
}
