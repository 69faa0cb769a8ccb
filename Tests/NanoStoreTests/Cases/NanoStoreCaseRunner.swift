// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// Runs one acceptance case of NanoStore against a new store.
final class NanoStoreCaseRunner {
  struct Car: StorableObject, Codable {
    var kName: String?
    var storedKey: String? { nil }
  }
  struct Person: StorableObject, Codable {
    var first: String?
    var last: String?
    var storedKey: String? { nil }
    enum CodingKeys: String, CodingKey {
      case first = "NanoPersonFirst"
      case last = "NanoPersonLast"
    }
  }

  let testCase: AcceptanceCase
  let folder: Scratch
  var store: Store!
  var engine = SQLiteConfiguration.nanoStore
  var location = Store.Location.memory
  var documents: [String: Document] = [:]
  var bags: [String: Bag] = [:]
  /// The case's names of bags and documents, by key.
  var names: [String: String] = [:]
  /// The names of documents that were saved or added to a bag, and may not be written yet.
  var unwritten: Set<String> = []
  /// The bags whose documents the case loaded or released since the bags were last read.
  var loadedBags: [Bag] = []
  /// The indexes that the case dropped.
  var dropped: DroppedIndexes?
  private var next = 0

  static let collection = "objects"

  /// Returns a path of the case, resolved in its folder.
  func path(_ value: DocumentValue?) -> String {
    folder.file((value?.string ?? "").replacing("<temp>/", with: ""))
  }

  var objects: DocumentCollection { store[Self.collection] }

  init(_ testCase: AcceptanceCase) throws {
    self.testCase = testCase
    folder = try Scratch()
  }

  func run() throws {
    try makeStore()
    for (name, description) in testCase.fields["objects"]?.object ?? [:] {
      try make(name, description.object ?? [:])
    }
    for (name, description) in testCase.fields["bags"]?.object ?? [:] {
      try makeBag(name, description.object ?? [:])
    }
    try runSteps()
    try? store?.close()
  }

  private func makeStore() throws {
    let description = testCase.fields["store"] ?? .object([:])
    if description["type"] == "persistent" {
      location = .file(path(description["path"]))
    } else if description["type"] == "temporary" {
      location = .temporary
    }
    try open()
    if let interval = description["saveInterval"]?.int { store.saveInterval = Int(interval) }
    // The original's table of values with its indexes.
    if description["indexes"] == true { try objects.setIndexing(.everything) }
    if description["open"] == false { try store.close() }
  }

  func open() throws {
    store = try Store(location, engine: engine)
    store.showsUnsavedChanges = false
    store.allowsPeriodsInNames = false
    store.register(Car.self)
    store.register(Person.self)
  }

  private func make(_ name: String, _ description: DocumentObject) throws {
    let type = description["class"]?.string ?? "plain"
    let key = description["key"]?.string ?? UUID().uuidString
    documents[name] = try Document(
      value(description["info"] ?? .null).object ?? [:], key: key, type: type)
    names[key] = name
  }

  private func makeBag(_ name: String, _ description: DocumentObject) throws {
    let bag = Bag(name: description["name"]?.string)
    bags[name] = bag
    names[bag.key] = name
    try addToBag(bag, (description["objects"]?.array ?? []).compactMap(\.string))
  }

  func addToBag(_ bag: Bag, _ items: [String]) throws {
    for item in items {
      if let inner = bags[item] {
        try bag.add(inner)
      } else if let document = documents[item] {
        documents[item] = try bag.add(document, in: Self.collection)
        unwritten.insert(item)
      } else {
        throw failure("there is no \(item)")
      }
    }
  }
}

extension NanoStoreCaseRunner {
  private func runSteps() throws {
    while next < testCase.steps.count { try runNext() }
  }

  private func runNext() throws {
    let step = testCase.steps[next]
    next += 1
    if NanoStoreDifferences.reason(step, testCase) != nil { return }
    if step["op"] == "begin", !store.isClosed, !store.isInTransaction {
      try check(step, DocumentObject().asResult)
      return try transaction()
    }
    var result: DocumentObject
    do {
      result = try perform(step)
      readWritten()
    } catch let error as StoreError {
      result = ["error": .string(kind(error, step)), "ok": false, "isNil": true]
    } catch let error as CaseFailure {
      throw error
    } catch {
      result = ["error": "error", "ok": false, "isNil": true]
    }
    try check(step, result.asResult)
  }

  /// Runs the steps up to the commit in a write transaction; a rollback or close throws out of it.
  private func transaction() throws {
    enum End: Error {
      case rollback(DocumentObject)
      case close
    }
    do {
      try store.write {
        while next < testCase.steps.count {
          let step = testCase.steps[next]
          switch step["op"]?.string {
          case "commit":
            next += 1
            return try check(step, DocumentObject().asResult)
          case "rollback":
            next += 1
            throw End.rollback(step)
          case "close": throw End.close
          default: try runNext()
          }
        }
      }
    } catch End.rollback(let step) {
      try check(step, DocumentObject().asResult)
    } catch End.close {
    }
  }

  /// Maps a store error to the error kind that the cases use.
  private func kind(_ error: StoreError, _ step: DocumentObject) -> String {
    let expected = step["expect"]?["error"]?.string
    switch error.code {
    case .closed:
      let names = ["error", "unableToManipulate"]
      return expected.flatMap { names.contains($0) ? $0 : nil } ?? "closed"
    case .partialDocument: return "partialObject"
    case .invalidArgument, .invalidPath, .invalidName, .invalidKey, .valueNotStorable:
      return expected == "error" ? "error" : "unexpectedParameter"
    case .database, .invalidQuery: return expected == "error" ? "error" : "sql"
    default: return "error"
    }
  }

  private func check(_ step: DocumentObject, _ actual: DocumentObject) throws {
    try testCase.check(step, next, actual) { field, wanted, found in
      let wanted = try value(wanted)
      // For SQL steps, `error` is true or false; elsewhere it is an error kind.
      if field == "error", case .bool(let fails) = wanted { return fails == !found.isNull }
      if field == "pattern" {
        return try found.string?.wholeMatch(of: Regex(wanted.string ?? "")) != nil
      }
      // The order of these is unspecified.
      let isSet =
        field.hasSuffix("Keys") || ["keys", "attributes", "datatypes"].contains(field)
        || ["set", "classes", "projected", "names", "tables"].contains(field)
        || (field == "infos" && actual["isList"] != true)
      return isSet ? DocumentValue.isSameSet(wanted, found) : wanted.matches(found)
    }
  }

  func failure(_ description: String) -> CaseFailure {
    CaseFailure(description: "\(testCase.id) step \(next): \(description)")
  }

  /// Decodes a value of the case file: dates, data, URLs, keys of named objects, fixtures.
  func value(_ raw: DocumentValue) throws -> DocumentValue {
    switch raw {
    case .array(let array): return .array(try array.map { try value($0) })
    case .object(let object):
      guard let first = object.first else { return raw }
      switch first.name {
      case "$date": return .date(try Date(first.value.string ?? "", strategy: Self.dates))
      case "$data": return .data(Data(base64Encoded: first.value.string ?? "") ?? Data())
      case "$url": return URL(string: first.value.string ?? "").map { .url($0) } ?? .null
      case "$null": return .null
      case "$key": return .string(key(first.value.string ?? ""))
      case "$fixture":
        var fixture =
          testCase.fields["fixtures"]?[FieldPath(first.value.string ?? "")]?.object ?? [:]
        fixture.merge(object["with"]?.object ?? [:])
        return try value(.object(fixture))
      default: return .object(DocumentObject(try object.map { ($0.name, try value($0.value)) }))
      }
    default: return raw
    }
  }

  private static let dates = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  func key(_ name: String) -> String { documents[name]?.key ?? bags[name]?.key ?? name }
}
