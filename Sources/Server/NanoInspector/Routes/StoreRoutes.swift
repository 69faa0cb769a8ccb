// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoServer
import NanoStoreCore

/// The store and its collections.
extension Inspector {
  func describe() async throws -> Wire {
    let statistics = try await store.statistics()
    let settings = statistics.settings.sorted { $0.key < $1.key }
    return [
      "location": .string(options.location), "engine": .string(statistics.engine),
      "isFile": .bool(store.file != nil),
      "canBackUp": .bool(!statistics.engine.hasPrefix("PostgreSQL")),
      "size": .int(statistics.size), "unused": .int(statistics.unused),
      "allowsWrites": .bool(options.allowsWrites), "changed": changeDate(),
      "timeLimit": .int(Int(options.timeLimit / .milliseconds(1))),
      "maximumTimeLimit": .int(Int(options.maximumTimeLimit / .milliseconds(1))),
      "settings": .fields(settings.map { (name: $0.key, value: .string($0.value)) }),
    ]
  }

  /// The last change of the file or its write-ahead log.
  private func changeDate() -> Wire {
    guard let file = store.file else { return .null }
    let dates = [file, file + "-wal"].compactMap { path in
      try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    }
    return dates.max().map { .value(.date($0), .row) } ?? .null
  }

  func collections() async throws -> Wire {
    let counts = Dictionary(
      try await store.statistics().collections.map { (ExactName($0.name), $0) },
      uniquingKeysWith: { first, _ in first })
    let list: [Wire] = try await store.collections().map { collection in
      let count = counts[ExactName(collection.name)]
      return [
        "name": .string(collection.name), "isInternal": .bool(collection.isInternal),
        "identity": collection.identity == .rowID ? "rowID" : "key",
        "documents": .optional(count?.documents), "indexes": .optional(count?.indexes),
      ]
    }
    return ["collections": .array(list)]
  }

  /// Returns estimates from documents at even distances.
  func summary(of collection: DocumentCollection) async throws -> Wire {
    try await store.read {
      guard let rows = try RowRange(collection) else { return ["documents": 0] }
      let count = try collection.count()
      var bytes = 0
      var documents = 0
      var growth: [Wire] = []
      for row in rows.evenly(Self.summaryPoints) + [rows.last] {
        let position = PagePosition(values: [], rowID: row == .min ? row : row - 1)
        guard let document = try collection.find().after(position).limit(1).first() else {
          continue
        }
        // Not the stored form, which a document of another program may not have.
        bytes += try document.withBytes { $0.count }
        documents += 1
        guard let added = document.added, let found = document.rowID else { continue }
        let share =
          rows.last == rows.first
          ? 1 : (Double(found) - Double(rows.first)) / (Double(rows.last) - Double(rows.first))
        growth.append(.array([.double(added.timeIntervalSince1970), .double(share)]))
      }
      let newest = try collection.get(rowID: rows.last)?.added
      let oldest = try collection.get(rowID: rows.first)?.added
      return [
        "documents": .int(count),
        "bytes": documents == 0 ? .null : .int(bytes * count / documents),
        "isEstimate": .bool(count > documents), "growth": .array(growth),
        "oldest": oldest.map { .value(.date($0), .row) } ?? .null,
        "newest": newest.map { .value(.date($0), .row) } ?? .null,
      ]
    }
  }

  /// Enough for a curve of a hundred pixels.
  private static let summaryPoints = 24

  /// Returns the documents with a key, in any collection.
  func lookUp(_ request: ServerRequest) async throws -> Wire {
    let keys = request.parameters.filter { $0.name == "key" && !$0.value.isEmpty }
      .prefix(Self.maximumKeys).map(\.value)
    return try await store.read { [store] in
      var found: [Wire] = []
      for collection in try store.collections() where !collection.isInternal {
        for key in keys where collection.identity == .key {
          // A text that no key can have belongs to no document.
          guard let document = try? store[collection.name].get(key) else { continue }
          found.append([
            "key": .string(key), "collection": .string(collection.name),
            "rowID": .optional(document.rowID.map(String.init)),
          ])
        }
      }
      return ["documents": .array(found)]
    }
  }

  /// The number of values of a document that are looked up as keys; arbitrary.
  private static let maximumKeys = 100

  /// Returns documents that contain a text as the value of any field.
  func references(_ request: ServerRequest) async throws -> Wire {
    let key = try request.required("key")
    return try await store.read { [store] in
      var found: [Wire] = []
      for description in try store.collections() where !description.isInternal {
        let collection = store[description.name]
        let condition = Condition.leaf(.comparison(.field(.element), .equal, .value(.string(key))))
        let documents = try collection.find(condition).limit(Self.maximumReferences).fetch()
        for document in documents {
          found.append([
            "collection": .string(description.name), "document": .document(document),
          ])
        }
      }
      return ["documents": .array(found)]
    }
  }

  /// The number of referring documents per collection.
  private static let maximumReferences = 20
}
