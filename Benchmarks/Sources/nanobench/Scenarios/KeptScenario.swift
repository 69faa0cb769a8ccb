// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import GRDB
import NanoStoreModels

/// Decodes every document and keeps all of them in an array. Raw SQLite only steps, so its ratios include the cost of
/// creating and keeping Swift values. The result is the number of documents.
struct KeptScenario: Scenario {
  let workload: Workload

  let name = "scan-kept"
  let work = "scan all into an array"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant { ScanScenario(workload: workload).raw }

  var record: Variant? { variant("GRDB Codable record, fetchAll", PersonRecord.self) }

  var others: [Variant] {
    [
      Variant("raw SQLite C and Foundation's JSONDecoder on the same bytes") { [workload] folder in
        let table = try RawTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT body FROM d")
        return { watch in try watch.measure { try [Person](decoding: select) }.count }
      },
      variant(Comparison.handWritten, PersonRow.self),
    ]
  }

  private func variant<Record: StoredPerson>(_ name: String, _: Record.Type) -> Variant {
    Variant(name) { [workload] folder in
      let table = try RecordTable<Record>.filled(folder, workload)
      return { watch in
        try watch.measure { try table.queue.read { try Record.fetchAll($0) } }.count
      }
    }
  }

  var ours: [Variant] {
    [
      Variant("models", target: 4.5) { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in try watch.measure { try people.models.find().fetch() }.count }
      },
      Variant("Codable") { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          try watch.measure { try people.collection.find().decoded(as: CodablePerson.self) }.count
        }
      },
    ]
  }
}

extension [Person] {
  /// A straightforward decoder of stored bodies with only Foundation.
  fileprivate init(decoding select: RawStatement) throws {
    self = []
    let decoder = JSONDecoder()
    let dates = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    decoder.dateDecodingStrategy = .custom { decoder in
      try dates.parse(StoredDate(from: decoder).text)
    }
    while try select.step() {
      let text = select.text(0)
      guard let start = UnsafeMutableRawPointer(mutating: text.baseAddress) else { continue }
      let body = Data(bytesNoCopy: start, count: text.count, deallocator: .none)
      append(try decoder.decode(Person.self, from: body))
    }
    select.reset()
  }
}

private struct StoredDate: Decodable {
  var text: String
  enum CodingKeys: String, CodingKey { case text = "$date" }
}
