// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Reads setups from objects and collects errors for entries that it cannot use.
struct SetupReader {
  private(set) var problems: [StoreError] = []
  /// The path of the entry being read.
  private var location: [String] = []

  mutating func store(_ object: DocumentObject) -> StoreSetup {
    var setup = StoreSetup()
    for (name, value) in object {
      inside(name) { reader in
        switch name {
        case "storePath": setup.path = reader.text(value)
        case "storeName": setup.name = reader.text(value)
        case "collections":
          for (name, value) in reader.object(value) ?? [:] {
            reader.inside(name) { reader in
              guard setup.collections[name] == nil else { return reader.reject(Self.distinctName) }
              setup.collections[name] = reader.object(value).map { reader.collection($0) }
            }
          }
        default: reader.reject("a property of a store setup")
        }
      }
    }
    return setup
  }

  mutating func collection(_ object: DocumentObject) -> CollectionSetup {
    var setup = CollectionSetup()
    for (name, value) in object {
      inside(name) { reader in
        switch name {
        case "identity": setup.identity = reader.identity(value)
        case "cacheSize": setup.cacheSize = reader.number(value)
        // `defaultJson` is the name in the files of NTJsonStore.
        case "defaults", "defaultJson": setup.defaults = reader.object(value)
        case "aliases": setup.aliases = reader.aliases(value)
        case "indexes": setup.indexes = reader.texts(value)
        case "uniqueIndexes": setup.uniqueIndexes = reader.texts(value)
        case "queryableFields": setup.queryableFields = reader.texts(value)
        case "textIndexes": setup.textIndexes = reader.texts(value)
        case "changeTracking": setup.changeTracking = reader.tracking(value)
        case "expiration": setup.expiration = reader.expiration(value)
        case "substringIndexes": setup.substringIndexes = reader.texts(value)
        default: reader.reject("a property of a collection setup")
        }
      }
    }
    return setup
  }
}

extension SetupReader {
  /// Names in a setup are dictionary keys, for which canonically equivalent strings are equal.
  private static let distinctName =
    "a name that differs from the others in more than its Unicode form"

  private mutating func inside(_ name: String, _ read: (inout SetupReader) -> Void) {
    location.append(name)
    read(&self)
    location.removeLast()
  }

  private mutating func reject(_ expected: String) {
    problems.append(
      StoreError(
        .invalidArgument, "A setup has an invalid entry",
        [.field: FieldPath(components: location).description, .expected: expected]))
  }

  private mutating func require<Value>(_ value: Value?, _ expected: String) -> Value? {
    if value == nil { reject(expected) }
    return value
  }

  private mutating func text(_ value: DocumentValue) -> String? {
    require(value.string, "a string")
  }

  private mutating func object(_ value: DocumentValue) -> DocumentObject? {
    require(value.object, "an object")
  }

  private mutating func number(_ value: DocumentValue) -> Int? {
    require(value.int.flatMap { Int(exactly: $0) }, "an integer")
  }

  private mutating func identity(_ value: DocumentValue) -> CollectionIdentity? {
    require(value.string.flatMap(CollectionIdentity.init), "key or rowID")
  }

  private mutating func tracking(_ value: DocumentValue) -> ChangeTracking? {
    require(value.string.flatMap(ChangeTracking.init), "on or off")
  }

  private mutating func expiration(_ value: DocumentValue) -> ExpirationRule? {
    let rule = value.object.flatMap { object in
      object.allSatisfy { ["after", "field"].contains($0.name) } ? ExpirationRule(object) : nil
    }
    return require(
      rule.flatMap { (try? $0.validate()) == nil ? nil : $0 },
      "an object with the seconds 'after' a write or the date in a 'field'")
  }
  private mutating func aliases(_ value: DocumentValue) -> [String: String]? {
    guard let object = object(value) else { return nil }
    var aliases: [String: String] = [:]
    for (name, value) in object {
      inside(name) { reader in
        guard aliases[name] == nil else { return reader.reject(Self.distinctName) }
        aliases[name] = reader.text(value)
      }
    }
    return aliases
  }

  /// Returns an array of strings. A single string counts as an array of one.
  private mutating func texts(_ value: DocumentValue) -> [String] {
    if let one = value.string { return [one] }
    guard let list = require(value.array, "a string or an array of strings") else { return [] }
    var texts: [String] = []
    for (number, value) in list.enumerated() {
      inside("\(number)") { reader in
        if let text = reader.text(value) { texts.append(text) }
      }
    }
    return texts
  }
}
