// SPDX-License-Identifier: MIT

import NanoStoreModels

/// NanoStore with models.
struct MixedStore: MixedProduct {
  private let store: Store
  private let models: ModelCollection<Person>
  private let part: ModelCollection<Person>
  private let keys: [String]

  static func fill(_ file: String, _ data: MixedData) throws {
    let store = try open(file)
    try store["people"].insert(data.people)
    try store["people"].createIndex("LastName")
    try store["part"].insert(Array(data.people.prefix(data.partCount)))
    try store.close()
  }

  init(_ file: String, _ data: MixedData) throws {
    store = try Self.open(file)
    models = store["people"].models()
    part = store["part"].models()
    keys = try store["people"].find().keys()
  }

  private static func open(_ file: String) throws -> Store {
    var configuration = Store.Configuration()
    configuration.indexTuning = .off
    var engine = SQLiteConfiguration()
    engine.maximumReaders = MixedContestant.maximumReaders
    return try Store(.file(file), configuration: configuration, engine: engine)
  }

  func read(_ read: MixedRead) throws -> Int {
    switch read {
    case .get(let number): try models.get(keys[number]) == nil ? 0 : 1
    case .find(let name): try models.find(\.lastName == name).fetch().count
    case .filter(let name): try part.find(\.lastName == name).fetch().count
    }
  }

  func readAsync(_ read: MixedRead) async throws -> Int {
    switch read {
    case .get(let number): try await models.get(keys[number]) == nil ? 0 : 1
    case .find(let name): try await models.find(\.lastName == name).fetch().count
    case .filter(let name): try await part.find(\.lastName == name).fetch().count
    }
  }

  func write(_ write: MixedWrite) throws {
    switch write {
    case .insert(_, let person): try models.insert(person)
    case .update(let number, let salary):
      try models.documents.update(keys[number], set: ["Salary": .double(salary)])
    }
  }

  func writeAsync(_ write: MixedWrite) async throws {
    switch write {
    case .insert(_, let person): _ = try await models.insert(person)
    case .update(let number, let salary):
      try await models.documents.update(keys[number], set: ["Salary": .double(salary)])
    }
  }

  func close() throws { try store.close() }
}
