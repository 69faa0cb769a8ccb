// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// A declarative configuration of a collection: its defaults, aliases and indexes.
///
/// It comes from code or from a file. Properties that it does not mention are left unchanged.
public struct CollectionSetup: Sendable, Hashable {
  /// How documents are identified, if the collection is created.
  public var identity: CollectionIdentity?
  /// See ``DocumentCollection/cacheSize``. As in NTJsonStore, -1 turns the cache off.
  public var cacheSize: Int?
  /// See ``DocumentCollection/setDefaults(_:)-(DocumentObject)``. An empty object removes existing
  /// defaults.
  public var defaults: DocumentObject?
  /// See ``DocumentCollection/setAliases(_:)-([String:String])``.
  public var aliases: [String: String]?
  /// The fields of each non-unique index, as in
  /// ``DocumentCollection/createIndex(keys:unique:)-(_,_)``.
  public var indexes: [String]
  /// The fields of each unique index.
  public var uniqueIndexes: [String]
  /// See ``DocumentCollection/addQueryableFields(_:)-(String)``.
  public var queryableFields: [String]
  /// The fields of each full-text index of words, as in ``indexes``; see
  /// ``DocumentCollection/createFullTextIndex(_:tokens:name:)-(String...,_,_)``.
  public var textIndexes: [String]
  /// The fields of each full-text index of substrings.
  public var substringIndexes: [String]
  /// See ``DocumentCollection/setChangeTracking(_:)-(ChangeTracking)``.
  public var changeTracking: ChangeTracking?
  /// See ``DocumentCollection/setExpirationRule(_:)-(ExpirationRule?)``. In a file, `{"after": 3600}`,
  /// `{"field": "validUntil"}`, or both.
  public var expiration: ExpirationRule?

  /// Creates a configuration. Properties that are not given are left unchanged when it is applied.
  public init(
    identity: CollectionIdentity? = nil, cacheSize: Int? = nil, defaults: DocumentObject? = nil,
    aliases: [String: String]? = nil, indexes: [String] = [], uniqueIndexes: [String] = [],
    queryableFields: [String] = [], textIndexes: [String] = [], substringIndexes: [String] = [],
    changeTracking: ChangeTracking? = nil, expiration: ExpirationRule? = nil
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
    self.changeTracking = changeTracking
    self.expiration = expiration
  }
}

extension CollectionSetup {
  /// The configuration as an object, in the format of setup files.
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
    if let changeTracking { object["changeTracking"] = .string(changeTracking.rawValue) }
    if let expiration { object["expiration"] = .object(expiration.object) }
    return object
  }

  /// Creates a configuration from an object, rejecting unusable entries.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for the first entry that is unknown or of the
  ///   wrong type; `field` is its path.
  public init(_ object: DocumentObject) throws(StoreError) {
    var reader = SetupReader()
    self = reader.collection(object)
    if let first = reader.problems.first { throw first }
  }

  /// Creates a configuration from the valid entries of an object.
  ///
  /// - Parameters:
  ///   - object: The object to read.
  ///   - ignored: Receives an error for each entry that was ignored.
  public init(_ object: DocumentObject, ignored: inout [StoreError]) {
    var reader = SetupReader()
    self = reader.collection(object)
    ignored += reader.problems
  }
}

extension CollectionSetup: Codable {
  /// Encodes the configuration in the format of setup files.
  public func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }
  /// Decodes strictly, like ``init(_:)``.
  public init(from decoder: any Decoder) throws { try self.init(DocumentObject(from: decoder)) }
}
