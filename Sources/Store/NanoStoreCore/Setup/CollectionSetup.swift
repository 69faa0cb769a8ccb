// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// How a collection should be: what a program, or a file that comes with it, says of its defaults,
/// aliases and indexes. What it does not mention stays as it is.
public struct CollectionSetup: Sendable, Hashable {
  /// What the collection's documents are known by, if it is made.
  public var identity: CollectionIdentity?
  /// See ``DocumentCollection/cacheSize``.
  public var cacheSize: Int?
  /// See ``DocumentCollection/setDefaults(_:)-(DocumentObject)``; empty ones remove those that are
  /// there.
  public var defaults: DocumentObject?
  /// See ``DocumentCollection/setAliases(_:)-([String:String])``.
  public var aliases: [String: String]?
  /// Fields of plain indexes, each as in ``DocumentCollection/createIndex(keys:unique:)-(_,_)``.
  public var indexes: [String]
  /// Those of unique indexes.
  public var uniqueIndexes: [String]
  /// See ``DocumentCollection/addQueryableFields(_:)-(String)``.
  public var queryableFields: [String]
  /// Fields of text indexes of words, each a list as in ``indexes``; see
  /// ``DocumentCollection/createTextIndex(_:tokens:name:)-(String...,_,_)``.
  public var textIndexes: [String]
  /// Those of text indexes of substrings.
  public var substringIndexes: [String]

  public init(
    identity: CollectionIdentity? = nil, cacheSize: Int? = nil, defaults: DocumentObject? = nil,
    aliases: [String: String]? = nil, indexes: [String] = [], uniqueIndexes: [String] = [],
    queryableFields: [String] = [], textIndexes: [String] = [], substringIndexes: [String] = []
  ) {
    self.identity = identity
    self.cacheSize = cacheSize
    self.defaults = defaults
    self.aliases = aliases
    self.indexes = indexes
    self.uniqueIndexes = uniqueIndexes
    self.queryableFields = queryableFields
    self.textIndexes = textIndexes
    self.substringIndexes = substringIndexes
  }
}

extension CollectionSetup {
  /// As an object, as setups are written in files.
  public var object: DocumentObject {
    var object = DocumentObject()
    if let identity { object["identity"] = .string(identity.rawValue) }
    if let cacheSize { object["cacheSize"] = .int(Int64(cacheSize)) }
    if let defaults { object["defaults"] = .object(defaults) }
    if let aliases {
      let pairs = aliases.sorted { $0.key.isBefore($1.key) }.map {
        ($0.key, DocumentValue.string($0.value))
      }
      object["aliases"] = .object(DocumentObject(pairs))
    }
    for (name, list) in [
      ("indexes", indexes), ("uniqueIndexes", uniqueIndexes), ("queryableFields", queryableFields),
      ("textIndexes", textIndexes), ("substringIndexes", substringIndexes),
    ] where !list.isEmpty {
      object[name] = .array(list.map { .string($0) })
    }
    return object
  }

  /// Reads an object by the letter.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for the first entry that is unknown or of the wrong
  ///   type; `field` says where it stands.
  public init(_ object: DocumentObject) throws(StoreError) {
    var reader = SetupReader()
    self = reader.collection(object)
    if let first = reader.problems.first { throw first }
  }

  /// Reads what can be read of an object.
  ///
  /// - Parameter ignored: Gets an error for each entry that was left out.
  public init(_ object: DocumentObject, ignored: inout [StoreError]) {
    var reader = SetupReader()
    self = reader.collection(object)
    ignored += reader.problems
  }
}

extension CollectionSetup: Codable {
  public func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }
  /// By the letter, as ``init(_:)``.
  public init(from decoder: any Decoder) throws { try self.init(DocumentObject(from: decoder)) }
}
