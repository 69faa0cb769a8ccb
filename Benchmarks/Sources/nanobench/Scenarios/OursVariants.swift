// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

extension Store {
  /// Opens a store without adaptive indexing.
  static func untuned(_ path: String) throws -> Store {
    var configuration = Configuration()
    configuration.indexTuning = .off
    return try Store(.file(path), configuration: configuration)
  }
}

/// A store in a new file with its collection of people.
struct People {
  let store: Store
  let collection: DocumentCollection
  var models: ModelCollection<Person> { collection.models() }

  init(_ folder: Folder, _ durability: Durability = .normal) throws {
    var configuration = Store.Configuration()
    var engine = SQLiteConfiguration()
    engine.durability = durability
    // Measured without adaptive indexing; `--adaptive` measures that.
    configuration.indexTuning = .off
    store = try Store(
      .file(folder.freshFile("ours.db")), configuration: configuration, engine: engine)
    collection = store["people"]
  }

  /// Returns a store with all documents, checkpointed and reopened.
  static func filled(_ folder: Folder, _ workload: Workload) throws -> People {
    let people = try People(folder)
    try people.collection.insert(workload.people)
    try people.store.close()
    try people.store.reopen()
    return people
  }
}

extension People {
  /// Like ``filled(_:_:)``, with room for every document in the cache.
  static func cached(_ folder: Folder, _ workload: Workload) throws -> People {
    let people = try filled(folder, workload)
    people.store.cacheLimit = .max
    people.collection.cacheSize = workload.documents
    return people
  }
}

extension InsertScenario {
  var ours: [Variant] {
    [
      Variant("models", target: 1.25) { [workload] folder in
        { watch in
          let people = try People(folder)
          try watch.measure {
            try people.models.insert(workload.people)
            // Closing the store checkpoints.
            try people.store.close()
          }
          return workload.documents
        }
      },
      Variant("Codable") { [workload] folder in
        let values = workload.people.map(CodablePerson.init)
        return { watch in
          let people = try People(folder)
          try watch.measure {
            try people.collection.insert(values)
            try people.store.close()
          }
          return workload.documents
        }
      },
      Variant("dynamic objects") { [workload] folder in
        let objects = try workload.people.map { try DocumentObject(encoding: $0) }
        return { watch in
          let people = try People(folder)
          try watch.measure {
            try people.collection.insert(objects)
            try people.store.close()
          }
          return workload.documents
        }
      },
    ]
  }
}

/// A person encoded only with Codable.
struct CodablePerson: Codable, Sendable {
  let person: Person
  init(_ person: Person) { self.person = person }
  func encode(to encoder: any Encoder) throws { try person.encode(to: encoder) }
  init(from decoder: any Decoder) throws { person = try Person(from: decoder) }
}

extension CommitScenario {
  var ours: [Variant] {
    [
      Variant("models", target: 1.25) { [workload, durability] folder in
        { watch in
          let people = try People(folder, durability == .full ? .full : .normal)
          try people.collection.insert(["first": true])
          try watch.measure {
            for number in 0..<workload.commits {
              try people.models.insert(workload.people[number])
            }
          }
          return try people.collection.count() - 1
        }
      }
    ]
  }
}

extension GetScenario {
  var ours: [Variant] {
    [
      Variant("lazy document", target: 1.3) { [workload] folder in
        let people = try People.filled(folder, workload)
        let keys = try people.collection.find().keys()
        return { watch in
          try watch.measure {
            var found = 0
            for number in workload.lookups
            where try people.collection.get(keys[number]) != nil { found += 1 }
            return found
          }
        }
      },
      Variant("lazy document, all cached") { [workload] folder in
        let people = try People.cached(folder, workload)
        let keys = try people.collection.fetch().compactMap(\.key)
        return { watch in
          try watch.measure {
            var found = 0
            for number in workload.lookups
            where try people.collection.get(keys[number]) != nil { found += 1 }
            return found
          }
        }
      },
    ]
  }
}

extension ScanScenario {
  var ours: [Variant] {
    [
      scan("lazy documents, no fields read", target: 1.3) { $0.rowID == nil ? 0 : 1 },
      scan("lazy documents, two fields read", target: 2.0) { document in
        document["LastName"] == nil || document["Age"] == nil ? 0 : 1
      },
      Variant("models", target: 2.6) { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          try watch.measure {
            var count = 0
            try people.models.find().each { count += $0.age > 0 ? 1 : 0 }
            return count
          }
        }
      },
      Variant("Codable") { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          try watch.measure {
            var count = 0
            try people.collection.find().each(as: CodablePerson.self) {
              count += $0.person.age > 0 ? 1 : 0
            }
            return count
          }
        }
      },
    ]
  }

  private func scan(
    _ name: String, target: Double, _ use: @escaping (Document) -> Int
  ) -> Variant {
    Variant(name, target: target) { [workload] folder in
      let people = try People.filled(folder, workload)
      return { watch in
        try watch.measure {
          var count = 0
          try people.collection.find().each { count += use($0) }
          return count
        }
      }
    }
  }
}

extension FindScenario {
  var ours: [Variant] {
    [
      find("lazy documents", target: 1.6) { try People.filled($0, $1) },
      find("lazy documents, all cached", target: 0.8) { try People.cached($0, $1) },
    ]
  }

  private func find(
    _ name: String, target: Double, _ open: @escaping (Folder, Workload) throws -> People
  ) -> Variant {
    Variant(name, target: target) { [workload] folder in
      let people = try open(folder, workload)
      try people.collection.createIndex("LastName")
      func findAll() throws -> Int {
        var found = 0
        for name in workload.soughtNames {
          found += try people.collection.find(Field("LastName") == name).fetch().count
        }
        return found
      }
      // The first pass fills the cache, and after the second one the cache is used first.
      for _ in 0..<2 where people.collection.cacheSize != nil { _ = try findAll() }
      return { watch in try watch.measure { try findAll() } }
    }
  }
}

extension TenthScenario {
  var ours: [Variant] {
    [
      find("lazy documents", target: 2.0) { try People.filled($0, $1) },
      find("lazy documents, filling the cache", isFlushing: true) { try People.cached($0, $1) },
      find("lazy documents, all cached", target: 0.5) { try People.cached($0, $1) },
    ]
  }

  private func find(
    _ name: String, target: Double? = nil, isFlushing: Bool = false,
    _ open: @escaping (Folder, Workload) throws -> People
  ) -> Variant {
    Variant(name, target: target) { [workload] folder in
      let people = try open(folder, workload)
      try people.collection.createIndex("Age")
      let (first, end) = (Int64(Self.ages.lowerBound), Int64(Self.ages.upperBound))
      let query = people.collection.find(Field("Age") >= first && Field("Age") < end)
      for _ in 0..<2 where people.collection.cacheSize != nil { _ = try query.fetch() }
      return { watch in
        var found = 0
        for _ in 0..<Self.repetitions {
          if isFlushing { people.collection.flushCache() }
          found += try watch.measure { try query.fetch().count }
        }
        return found
      }
    }
  }
}

extension FilterScenario {
  var ours: [Variant] {
    [
      Variant("condition in Swift", target: 0.3) { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          try watch.measure {
            try people.collection.find(Field("LastName") == workload.soughtName).count()
          }
        }
      }
    ]
  }
}

extension SortScenario {
  var ours: [Variant] {
    [
      Variant("lazy documents") { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          try watch.measure {
            try people.collection.find().sorted(by: "Salary").limit(20).fetch()
              .reduce(0) { $0 + ($1["Salary"]?.double ?? 0).cents }
          }
        }
      }
    ]
  }
}

extension AverageScenario {
  var ours: [Variant] {
    [
      Variant("average") { [workload] folder in
        let people = try People.filled(folder, workload)
        return { watch in
          try watch.measure { (try people.collection.find().average("Salary") ?? 0).cents }
        }
      }
    ]
  }
}
