// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// What a child process does while its memory is measured.
enum MemoryJob: String {
  /// Nothing.
  case start = "memory-start"
  /// Opens a store.
  case open = "memory-open"
  /// Opens a store and fetches models into an array.
  case models = "memory-models"
  /// Creates the same values without a store.
  case structs = "memory-structs"
  /// Creates faults in a context.
  case faults = "memory-faults"
  /// Reads all documents one by one.
  case scan = "memory-scan"

  /// Returns the allocated bytes, and the most resident bytes of the process.
  func measure(file: String, count: Int) throws -> [String: Double] {
    let allocated: Int
    switch self {
    case .start:
      _ = PlainPerson.people(1)
      allocated = ProcessMemory.allocated
    case .structs:
      let people = PlainPerson.people(count)
      allocated = withExtendedLifetime(people) { ProcessMemory.allocated }
    case .open:
      let store = try Self.open(file)
      allocated = withExtendedLifetime(store) { ProcessMemory.allocated }
    case .models:
      let store = try Self.open(file)
      let people = try store["people"].models(Person.self).fetch()
      try Self.require(people.count, count)
      allocated = withExtendedLifetime((store, people)) { ProcessMemory.allocated }
    case .faults: allocated = try Self.faults(file, count)
    case .scan: allocated = try Self.scan(file, count)
    }
    return ["allocated": Double(allocated), "peak": Double(ProcessMemory.peakResident)]
  }

  /// Opens a store and reads one document, because the first read opens a connection.
  private static func open(_ file: String) throws -> Store {
    let store = try Store.untuned(file)
    _ = try store["people"].models(Person.self).find().limit(1).fetch()
    return store
  }

  /// Returns the bytes that faults take, without the array that keeps them.
  private static func faults(_ file: String, _ count: Int) throws -> Int {
    let context = ObjectContext(try open(file))
    var songs: [Song] = []
    songs.reserveCapacity(count)
    let before = ProcessMemory.allocated
    for rowID in 1...Int64(count) { songs.append(context.fault(ObjectID(rowID: rowID))) }
    return withExtendedLifetime((context, songs)) { ProcessMemory.allocated - before }
  }

  /// Returns the most bytes that a scan has allocated at any document, without SQLite's page cache.
  private static func scan(_ file: String, _ count: Int) throws -> Int {
    let store = try open(file)
    let cacheBefore = ProcessMemory.largestPageCache
    let before = ProcessMemory.allocated
    var most = before
    var read = 0
    try store["people"].models(Person.self).find().each { person in
      read += person.age > 0 ? 1 : 0
      if read.isMultiple(of: sampling) { most = max(most, ProcessMemory.allocated) }
    }
    try require(read, count)
    return most - before - (ProcessMemory.largestPageCache - cacheBefore)
  }

  /// The documents from one look at the allocated memory to the next. Not a multiple of the size of any batch.
  private static let sampling = 997

  private static func require(_ read: Int, _ count: Int) throws {
    guard read == count else { throw ChildFailure(job: ["\(read) of \(count)"], status: nil) }
  }
}

/// The same fields as the model, in plain structs.
struct PlainPerson {
  struct Address {
    var street: String
    var zip: String
    var country: String
  }

  var firstName: String
  var lastName: String
  var age: Int
  var city: String
  var salary: Double
  var emails: [String]
  var address: Address
  var joined: Date

  private init(_ person: Person) {
    firstName = person.firstName
    lastName = person.lastName
    age = person.age
    city = person.city
    salary = person.salary
    emails = person.emails
    address = Address(
      street: person.address.street, zip: person.address.zip, country: person.address.country)
    joined = person.joined
  }

  static func people(_ count: Int) -> [PlainPerson] {
    (0..<count).map { PlainPerson(Person(number: $0)) }
  }
}
