// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// Every document as a value in one array. Raw SQLite only steps. The answer is how many there were.
struct KeptScenario: Scenario {
  let workload: Workload

  let name = "kept"
  let work = "all in an array of values"
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant { ScanScenario(workload: workload).raw }

  var record: Variant? {
    Variant("GRDB Codable records") { [workload] folder in
      let table = try RecordTable.filled(folder, workload)
      return { watch in
        try watch.measure { try table.queue.read { try PersonRecord.fetchAll($0).count } }
      }
    }
  }

  var others: [Variant] {
    [
      Variant("raw SQLite C and Foundation's JSONDecoder") { [workload] folder in
        let table = try RawTable.filled(folder, workload)
        let select = try table.connection.prepare("SELECT id,key,body FROM d")
        return { watch in
          try watch.measure {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { try Date(stored: $0) }
            var people: [Person] = []
            while try select.step() {
              people.append(try decoder.decode(Person.self, from: Data(select.text(2))))
            }
            select.reset()
            return people.count
          }
        }
      }
    ]
  }

  var ours: [Variant] {
    [
      Variant("models", target: 4.5) { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in try watch.measure { try people.models.find().models().count } }
      }
    ]
  }
}

extension Date {
  /// The date in `{"$date":"2026-11-20T21:17:00.123456789Z"}`, as well as Foundation's formats read it: to
  /// the millisecond, by the fastest of its parsers.
  fileprivate init(stored decoder: any Decoder) throws {
    struct Form: Decodable {
      let date: String
      enum CodingKeys: String, CodingKey { case date = "$date" }
    }
    let text = try decoder.singleValueContainer().decode(Form.self).date
    self = try Self.format.parse(text)
  }

  private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
