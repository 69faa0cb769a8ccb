// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Importing CSV")
struct CSVImportTests {
  let scratch: Scratch
  let rows: DocumentCollection

  init() throws {
    scratch = try Scratch()
    rows = try anyStore()["rows"]
  }

  private func file(_ bytes: some Sequence<UInt8>) throws -> URL {
    let file = URL(filePath: scratch.file("\(UUID().uuidString).csv"))
    try Data(bytes).write(to: file)
    return file
  }

  @discardableResult
  private func load(
    _ text: String, _ options: CSVOptions = CSVOptions(), key: FieldPath? = nil,
    skipping: Bool = false
  ) throws -> ImportReport {
    try rows.importDocuments(
      from: file(text.utf8),
      options: ImportOptions(
        format: .csv(options), keyField: key, skipsInvalidRecords: skipping))
  }

  private func objects() throws -> [DocumentObject] { try rows.fetch().map { try $0.object() } }

  /// The value of the only field of the only document.
  private func value(_ cell: String, _ options: CSVOptions = CSVOptions()) throws -> DocumentValue?
  {
    try rows.deleteAll()
    try load("v,w\n\(cell),1\n", options)
    return try #require(try rows.fetch().first)["v"]
  }

  @Test("Headers are paths: nested fields are grouped at the position of the first")
  func paths() throws {
    try load(
      "name,address.city,born,address.geo.lat,\"\"\"a.b\"\"\",$x\nAda,London,1815,51.5,1,2\n")

    #expect(
      try objects() == [
        [
          "name": "Ada", "address": ["city": "London", "geo": ["lat": 51.5]], "born": 1815,
          "a.b": 1, "$x": 2,
        ]
      ])
  }

  @Test("An object whose fields are all missing is omitted")
  func emptyObjects() throws {
    try load("a,b.c,b.d.e,f\n1,,,2\n,,3,\n")

    #expect(try objects() == [["a": 1, "f": 2], ["b": ["d": ["e": 3]]]])
  }

  @Test(
    "A field becomes a value only if writing the value gives the same text",
    arguments: [
      ("12", .int(12)), ("0", .int(0)), ("-7", .int(-7)),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("9007199254740993", .int(9_007_199_254_740_993)),
      ("1.5", .double(1.5)), ("-0.25", .double(-0.25)), ("3.0", .double(3)),
      ("-0.0", .double(-0.0)), ("1e+300", .double(1e300)),
      ("5e-324", .double(.leastNonzeroMagnitude)),
      ("0.1", .double(0.1)), ("123456.789", .double(123456.789)),
      ("true", .bool(true)), ("false", .bool(false)), ("null", .null),
      ("2026-11-20T21:17:00Z", .date(Date(timeIntervalSince1970: 1_795_209_420))),
      ("2026-11-20T21:17:00.250Z", .date(Date(timeIntervalSince1970: 1_795_209_420.25))),
    ] as [(String, DocumentValue)])
  func inferred(cell: String, expected: DocumentValue) throws {
    #expect(try value(cell) == expected)
  }

  @Test(
    "Text that a number, Boolean, null or date would change stays text",
    arguments: [
      "007", "-07", "+1", "-0", "1.50", "1.", ".5", "1e5", "1E+300",
      "1;5",
      "9223372036854775808", "-9223372036854775809", "12345678901234567890123",
      "1.0000000000000000001",
      "NaN", "nan", "inf", "Infinity", "-", "--1", "0x10", "1_000", "1 000", " 12", "12 ", "True",
      "TRUE", "yes", "NULL", "Null", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z",
      "2024-01-01T00:00:00+00:00", "2024-01-01T01:00:00+01:00", "2024-02-30T00:00:00Z",
      "2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00.5000Z", "2024-01-01T00:00:00.000000Z",
      "20240101T000000Z", "2024-01-01T00:00Z", "1e400",
    ])
  func text(cell: String) throws {
    #expect(try value(cell) == .string(cell))
  }

  @Test("Fields in quotes are text, unless the options convert them")
  func quotedFields() throws {
    #expect(try value("\"12\"") == "12")
    #expect(try value("\"null\"") == "null")
    #expect(try value("\"12\"", CSVOptions(infersQuotedFields: true)) == 12)
    #expect(try value("\"\"", CSVOptions(infersQuotedFields: true)) == "")
  }

  @Test("Conversion can be switched off for columns and for the file")
  func textColumns() throws {
    try load("zip,a.n,n\n12,1,2\n", CSVOptions(textColumns: ["zip", "a.n"]))
    try load("zip,ok\n12,true\n", CSVOptions(infersTypes: false))

    #expect(
      try objects() == [["zip": "12", "a": ["n": "1"], "n": 2], ["zip": "12", "ok": "true"]])
    let error = error { try load("a\n1\n", CSVOptions(textColumns: ["b"])) }
    #expect(error?.code == .invalidArgument)
    #expect(error?[.field] == "b")
  }

  @Test("An empty field is missing, null or an empty string; two quotes are an empty string")
  func emptyFields() throws {
    #expect(try value("") == nil)
    #expect(try value("", CSVOptions(emptyFields: .null)) == .null)
    #expect(try value("", CSVOptions(emptyFields: .text)) == "")
    #expect(try value("\"\"") == "")
  }

  @Test(
    "Line ends are LF, CR LF or CR, the last one is optional, and a byte order mark is skipped",
    arguments: [
      "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r",
      "\u{FEFF}a,b\n\n1,2\n\r\n3,4\n\n",
    ])
  func lineEnds(text: String) throws {
    #expect(try load(text).documents == 2)
    #expect(try objects() == [["a": 1, "b": 2], ["a": 3, "b": 4]])
  }

  @Test("Quoted fields contain separators, line breaks and doubled quotes")
  func quoting() throws {
    try load("a,b\n\"x,y\",\"1\r\n2\r3\n\"\n\"\"\"q\"\"\",5\" pipe\n")

    #expect(
      try objects() == [["a": "x,y", "b": "1\r\n2\r3\n"], ["a": "\"q\"", "b": "5\" pipe"]])
  }

  @Test("In a table of one column, a blank line is a document without the field")
  func oneColumn() throws {
    #expect(try load("a\n1\n\n2\n").documents == 3)
    #expect(try objects() == [["a": 1], [:], ["a": 2]])
  }

  @Test("Other separators and tabs")
  func separators() throws {
    try load("a;b\n1,5;2\n", CSVOptions(separator: ";"))
    try rows.importDocuments(
      from: file("a\tb\n1,5\t\"x\ty\"\n".utf8), options: ImportOptions(format: .tsv))

    #expect(try objects() == [["a": "1,5", "b": 2], ["a": "1,5", "b": "x\ty"]])
    for separator in ["\"", "\n", "\r\n", "é", "1", "a", ".", "-", ":"] as [Character] {
      let error = error { try load("a\n", CSVOptions(separator: separator)) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test("The key is a field, or the column __key__, which is not stored as a field")
  func keys() throws {
    try load("id,n\n007,1\nb,2\n", key: "id")
    try load("n,__key__\n3,c\n")
    try load("\"\"\"__key__\"\"\"\nfield\n")

    #expect(try rows.find().keys().prefix(3) == ["007", "b", "c"])
    #expect(
      try objects() == [
        ["id": "007", "n": 1], ["id": "b", "n": 2], ["n": 3], ["__key__": "field"],
      ])
  }

  struct Bad: CustomTestStringConvertible {
    var text: String
    var code = StoreError.Code.invalidCSV
    var record: Int
    var line: Int
    var byte: Int
    var details: [StoreError.Detail: String] = [:]
    var key: FieldPath?
    var testDescription: String { text }
  }

  static let bad = [
    Bad(
      text: "a,b\n1,2\n3\n", record: 2, line: 3, byte: 8,
      details: [.expected: "2 fields", .actual: "1"]),
    Bad(text: "a,b\r\n1,2,3\r\n", record: 1, line: 2, byte: 5, details: [.actual: "3"]),
    Bad(text: "a,b\n\"1\n2\",3\n\"x\n\n", record: 2, line: 4, byte: 12, details: [.column: "1"]),
    Bad(text: "a,b\n1,\"x\"y\n", record: 1, line: 2, byte: 4, details: [.column: "2"]),
    Bad(text: "a,a.b\n", record: 0, line: 1, byte: 0, details: [.field: "a", .actual: "a.b"]),
    Bad(
      text: "x.y.z,x.y\n", record: 0, line: 1, byte: 0, details: [.field: "x.y", .actual: "x.y.z"]),
    Bad(text: "a,b,a\n1,2,3\n", record: 0, line: 1, byte: 0, details: [.field: "a"]),
    Bad(text: "a,\"\"\"a\"\"\"\n", record: 0, line: 1, byte: 0, details: [.field: "a"]),
    Bad(text: "__key__,__key__\n", record: 0, line: 1, byte: 0),
    Bad(text: "__added__,b\n", record: 0, line: 1, byte: 0, details: [.field: "__added__"]),
    Bad(text: "\na,,b\n", code: .invalidPath, record: 0, line: 2, byte: 1, details: [.column: "2"]),
    Bad(text: "a,b..c\n", code: .invalidPath, record: 0, line: 1, byte: 0, details: [.column: "2"]),
    Bad(text: "\"a,b\n1,2\n", record: 0, line: 1, byte: 0),
    Bad(text: "a,b\n,2\n", code: .invalidKey, record: 1, line: 2, byte: 4, key: "a"),
    Bad(text: "a,b\n1,2\n1,3\n", code: .duplicateKey, record: 2, line: 3, byte: 8, key: "a"),
    Bad(text: "a,b\n1,2\n", code: .invalidArgument, record: 0, line: 1, byte: 0, key: "c"),
  ]

  @Test(
    "An invalid row or header is reported with its position, and nothing is stored", arguments: bad)
  func invalid(bad: Bad) throws {
    let error = error { try load(bad.text, key: bad.key) }

    #expect(error?.code == bad.code)
    #expect(error?[.record] == "\(bad.record)")
    #expect(error?[.line] == "\(bad.line)")
    #expect(error?[.byteOffset] == "\(bad.byte)")
    for (name, value) in bad.details { #expect(error?[name]?.hasPrefix(value) == true, "\(name)") }
    #expect(try rows.store.collections().isEmpty)
  }

  @Test("Rows that are not UTF-8 are invalid records, with the position of the byte")
  func invalidUTF8() throws {
    let bytes =
      Array("a,b\n1,\"x\ny".utf8) + [0xFF] + Array("\"\n2,é\n".utf8) + [0xC3, 0x28]
      + Array(",4\n".utf8)
    let file = try file(bytes)
    let error = error {
      try rows.importDocuments(from: file, options: ImportOptions(format: .csv()))
    }
    #expect(error?.code == .invalidCSV)
    #expect(error?[.line] == "3")
    #expect(error?[.byteOffset] == "10")

    let report = try rows.importDocuments(
      from: file, options: ImportOptions(format: .csv(), skipsInvalidRecords: true))
    #expect(report.documents == 1 && report.skipped == 2)
    #expect(try objects() == [["a": 2, "b": "é"]])
  }

  @Test(
    "Files in UTF-16 and UTF-32 are refused",
    arguments: [
      String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian,
    ])
  func otherEncodings(encoding: String.Encoding) throws {
    let file = try file(try #require("name,b\n1,2\n".data(using: encoding)))
    let error = error {
      try rows.importDocuments(
        from: file, options: ImportOptions(format: .csv(), skipsInvalidRecords: true))
    }
    #expect(error?.code == .invalidCSV)
    #expect(error?.message.contains("UTF-16") == true)
  }

  @Test(
    "A NUL in the first name is a part of it",
    arguments: ["a\0b,c\n1,2\n", "\0x,c\n1,2\n", "abcd\0b,c\n1,2\n"])
  func zeroInHeader(text: String) throws {
    try load(text)
    #expect(try objects().first?.map(\.value) == [1, 2])
  }

  @Test("Invalid rows are skipped on request; rows may be short on request, but never long")
  func skipping() throws {
    let text = "a,b,c\n1,2,3\n4\n5,6,7,8\n,\n\"x\"y,1,2\n9,9,9\n"
    let strict = try load(text, skipping: true)
    #expect(strict.documents == 2 && strict.skipped == 4)
    #expect(strict.skippedRecords.map { $0[.line] } == ["3", "4", "5", "6"])
    try rows.deleteAll()

    let lenient = try load(text, CSVOptions(acceptsShortRows: true), skipping: true)
    #expect(lenient.documents == 4 && lenient.skipped == 2)
    #expect(
      try objects() == [["a": 1, "b": 2, "c": 3], ["a": 4], [:], ["a": 9, "b": 9, "c": 9]])
  }

  @Test("A row over the length limit ends the import, even if invalid rows are skipped")
  func tooLong() throws {
    let text = "a,b\n1,\"" + String(repeating: "x\n", count: 2_000_000)
    let file = try file(text.utf8)
    let error = error {
      try rows.importDocuments(
        from: file,
        options: ImportOptions(
          format: .csv(), skipsInvalidRecords: true, maximumRecordLength: 1_000_000))
    }
    #expect(error?.code == .documentTooLarge)
    #expect(error?[.line] == "2")
  }

  @Test("Records can be of any length", arguments: [Int.max, Int.max - 1])
  func unlimited(length: Int) throws {
    // Larger than a chunk, so that the first row is incomplete at the end of the first one.
    let text = "a,b\n\"\(String(repeating: "x", count: 3 << 20))\",1\n2,3\n"
    let report = try rows.importDocuments(
      from: file(text.utf8),
      options: ImportOptions(format: .csv(), maximumRecordLength: length))
    #expect(report.documents == 2)
  }

  @Test(
    "A file without rows, or without anything, imports nothing",
    arguments: ["", "\n\n", "a,b", "a,b\n"])
  func nothing(text: String) throws { #expect(try load(text).documents == 0) }

  @Test("Chunk boundaries do not change the documents")
  func chunks() throws {
    let text = Array(
      "\u{FEFF}a,\"b.c\"\r\n1,\"x\"\"y\r\n\"\r\"\",é\r\n\"z\"q,1\n1,2,3\n\"open\r".utf8)
    func records(_ size: Int) throws -> [String] {
      var parser = try CSVParser(CSVOptions(), keyField: nil, maximumLength: 40)
      var found: [String] = []
      var writer = JSONWriter()
      func drain() {
        while true {
          writer.removeAll()
          switch parser.next(into: &writer) {
          case .document(_, let place): found.append("\(place) \(writer.text)")
          case .failure(let failure): found.append("\(failure.place) \(failure.error)")
          case nil: return
          }
        }
      }
      for start in stride(from: 0, to: text.count, by: size) {
        text[start..<min(start + size, text.count)].withUnsafeBytes { parser.append($0) }
        drain()
      }
      parser.finish()
      drain()
      return found
    }
    let whole = try records(text.count)

    #expect(whole.count == 5)
    for size in 1..<text.count { #expect(try records(size) == whole, "\(size)") }
  }

  @Test("Documents of scalars are equal after export and import, with any separator")
  func roundTrip() throws {
    let kinds: [ValueGenerator.Kind] = [
      .null, .bool, .int, .double, .text, .anyText, .date, .number,
    ]
    let names = ["a", "b.x", "b.y.z", "c d", "é", "\"q.r\"", "\"\"\"\"", "$oid", " s", "__x__"]
    for separator in [",", "\t", ";", "|"] as [Character] {
      let seed = UInt64.random(in: 0 ... .max)
      var generator = ValueGenerator(random: SplitMix(seed: seed))
      let other = try Store(.memory)["rows"]
      try rows.deleteAll()
      for number in 0..<200 {
        var object = DocumentObject()
        for name in names where !generator.random.oneIn(4) {
          try object.set(generator.value(generator.random.pick(kinds)), at: FieldPath(name))
        }
        try rows.insert(object, key: number % 7 == 0 ? "\(number)" : " k\"\(number)\n")
      }

      let file = URL(filePath: scratch.file("\(seed).csv"))
      let columns = ["__key__"] + names
      try rows.find().export(to: file, as: .csv(columns: columns, separator: separator))
      try other.importDocuments(
        from: file, options: ImportOptions(format: .csv(CSVOptions(separator: separator))))

      #expect(try other.find().keys() == rows.find().keys(), "seed \(seed)")
      for (copy, original) in zip(try other.fetch(), try rows.fetch()) {
        #expect(try copy.object() == original.object(), "seed \(seed), separator \(separator)")
      }
    }
  }
}
