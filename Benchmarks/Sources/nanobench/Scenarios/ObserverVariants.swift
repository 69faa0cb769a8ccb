// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore

extension ObserverScenario {
  var raw: Variant {
    Variant("NanoStore, no observers") { folder in try writer(folder) { _ in [] } }
  }

  var ours: [Variant] {
    [
      Variant("50 on the collection, 50 on other collections", target: 1.1) { folder in
        try writer(folder) { store in
          (0..<Self.observers).map { (number: Int) -> DocumentUpdates<Document> in
            let collection = store[number % 2 == 0 ? "people" : "other \(number)"]
            let absentAge = DocumentValue.int(Int64(-1 - number))
            return collection.find(Field("Age") == absentAge).updates()
          }
        }
      },
      Variant("100 on other collections", target: 1.1) { folder in
        try writer(folder) { store in
          (0..<Self.observers).map { store["other \($0)"].find().updates() }
        }
      },
      Variant("a change feed") { folder in
        try writer(folder, feeds: true) { _ in [] }
      },
    ]
  }

  private func writer(
    _ folder: Folder, feeds: Bool = false,
    observing observe: @escaping (Store) -> [DocumentUpdates<Document>]
  ) throws -> Variant.Round {
    { watch in
      let store = try Store.untuned(folder.freshFile("ours.db"))
      let people = store["people"]
      try await people.insert(["first": true])
      let begun = Begun()
      let queue = DispatchQueue(label: "observers")
      var observations = observe(store).map { updates in
        updates.observe(on: queue) { _ in begun.add() }
      }
      while begun.count < observations.count { try await Task.sleep(for: .milliseconds(5)) }
      if feeds { observations.append(store.changes.observe(on: queue) { _ in }) }
      try watch.measureThread {
        for number in 0..<operations {
          let person = workload.people[number % workload.people.count]
          try people.insert(CollectionOfOne(person))
        }
      }
      for observation in observations { observation.cancel() }
      return try await people.count() - 1
    }
  }
}

/// Counts the observers that have received their first result.
// @unchecked: `number` is touched only while `lock` is held.
private final class Begun: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0
  var count: Int { lock.withLock { number } }
  func add() { lock.withLock { number += 1 } }
}
