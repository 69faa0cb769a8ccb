// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Testing

@Suite("Groups and distinct values that exceed the memory limit")
struct SpilledGroupsTests {
  /// Sorts in memory, and counts what was spilled.
  private final class Spill: ExternalSorter {
    private var entries: [(key: [UInt8], content: [UInt8])] = []
    var count: Int { entries.count }

    func add(_ key: [UInt8], _ content: UnsafeRawBufferPointer) throws(StoreError) {
      entries.append((key, Array(content)))
    }

    func each(
      _ show: (_ key: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
      let sorted = entries.enumerated().sorted {
        $0.element.key == $1.element.key
          ? $0.offset < $1.offset : $0.element.key.lexicographicallyPrecedes($1.element.key)
      }
      for (_, entry) in sorted {
        let goesOn = try entry.key.withUnsafeBytes { key in
          try entry.content.withUnsafeBytes { try show(key, $0) }
        }
        if !goesOn { return }
      }
    }
  }

  /// Long strings, so that a few thousand groups exceed the memory limit. Each is in several documents, also in
  /// arrays.
  private static func documents() -> [DocumentObject] {
    let padding = String(repeating: "long ", count: 2_000)
    var documents: [DocumentObject] = (0..<2_500).map { number in
      let text = "\(number * 7_919 % 2_500) \(padding)"
      return ["g": .string(text), "n": .int(Int64(number)), "x": .double(Double(number) / 3)]
    }
    documents += documents.shuffled()
    documents.append(["g": [documents[0]["g"]!, documents[2_400]["g"]!, 1, 1.0], "n": .int(.max)])
    documents.append(["g": [documents[2_400]["g"]!], "n": .int(.max), "x": .null])
    documents.append(["n": -1])
    // As deep as a document can be.
    var deep: DocumentObject = ["m": 1]
    for _ in 2..<DocumentValue.maximumDepth { deep = ["m": .object(deep)] }
    documents += [["g": .object(deep), "n": .object(deep)], ["g": .object(deep), "n": 2]]
    documents += [["g": .date(.init(timeIntervalSinceReferenceDate: 0.123456)), "n": 0.1]]
    return documents
  }

  @Test("Spilled groups are the same as groups in memory")
  func groups() throws {
    let spill = Spill()
    let query = AggregateQuery(
      groups: [FieldPath("g")],
      aggregates: [
        .count, .countOf(FieldPath("n")), .sum(FieldPath("n")), .sum(FieldPath("x")),
        .average(FieldPath("x")), .min(FieldPath("n")), .max(FieldPath("x")),
      ])
    let plain = CompiledAggregation(query)
    let spilling = CompiledAggregation(query) { () throws(StoreError) in spill }
    for document in Self.documents() {
      var writer = JSONWriter()
      writer.object(document)
      try plain.add(writer.bytes)
      try spilling.add(writer.bytes)
    }
    var rows: [AggregateRow] = []
    try spilling.eachRow { row in
      rows.append(row)
      return true
    }
    #expect(spill.count > 500)
    #expect(rows == plain.rows)
    var first: [AggregateRow] = []
    try spilling.eachRow { row in
      first.append(row)
      return first.count < 2_000
    }
    #expect(first == Array(plain.rows.prefix(2_000)))
  }

  @Test("Spilled distinct values are the same as those in memory")
  func distinct() throws {
    let spill = Spill()
    let plain = DistinctValues(FieldPath("g"))
    let spilling = DistinctValues(FieldPath("g")) { () throws(StoreError) in spill }
    for document in Self.documents() {
      var writer = JSONWriter()
      writer.object(document)
      try plain.add(writer.bytes)
      try spilling.add(writer.bytes)
    }
    #expect(spill.count > 500)
    #expect(try spilling.all() == plain.values)
  }
}
