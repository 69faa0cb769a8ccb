// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument

/// A declarative configuration of a store and its collections, from code or a file.
///
/// ```json
/// {
///   "storeName": "library.db",
///   "collections": {
///     "films": { "defaults": {"rating": 0}, "indexes": ["[year] DESC, [title]"], "uniqueIndexes": "[imdb]" }
///   }
/// }
/// ```
///
/// ```swift
/// let setup = try StoreSetup(contentsOf: "library.json")
/// let store = try Store(setup)
/// ```
public struct StoreSetup: Sendable, Hashable {
  /// The folder of the store's file. `CACHES`, `TEMP` and `DOCS` are replaced by the system's
  /// folders for such files. The default, nil, is the caches folder.
  public var path: String?
  /// The name of the store's file; nil for `NanoStore.db`.
  public var name: String?
  /// The configurations of the collections, by name.
  public var collections: [String: CollectionSetup]

  /// Creates a configuration.
  public init(
    path: String? = nil, name: String? = nil, collections: [String: CollectionSetup] = [:]
  ) {
    self.path = path
    self.name = name
    self.collections = collections
  }

  /// The absolute path of the store's file.
  public var file: String {
    URL(fileURLWithPath: folder).appendingPathComponent(name ?? "NanoStore.db")
      .standardizedFileURL.path
  }

  private var folder: String {
    let folder: FileManager.SearchPathDirectory
    switch path {
    case nil, "CACHES": folder = .cachesDirectory
    case "DOCS": folder = .documentDirectory
    case "TEMP": return NSTemporaryDirectory()
    case let path?: return NSString(string: path).expandingTildeInPath
    }
    return FileManager.default.urls(for: folder, in: .userDomainMask).first?.path
      ?? NSTemporaryDirectory()
  }
}

extension StoreSetup {
  /// The configuration as an object, in the format of setup files.
  public var object: DocumentObject {
    var object = DocumentObject()
    if let path { object["storePath"] = .string(path) }
    if let name { object["storeName"] = .string(name) }
    if !collections.isEmpty {
      let pairs = collections.sorted { $0.key.isBefore($1.key) }
        .map { ($0.key, DocumentValue.object($0.value.object)) }
      object["collections"] = .object(DocumentObject(pairs))
    }
    return object
  }

  /// Creates a configuration from an object, rejecting unusable entries.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for the first entry that is unknown or of the
  ///   wrong type; `field` is its path.
  public init(_ object: DocumentObject) throws(StoreError) {
    var reader = SetupReader()
    self = reader.store(object)
    if let first = reader.problems.first { throw first }
  }

  /// Creates a configuration from the valid entries of an object.
  ///
  /// - Parameters:
  ///   - object: The object to read.
  ///   - ignored: Receives an error for each entry that was ignored.
  public init(_ object: DocumentObject, ignored: inout [StoreError]) {
    var reader = SetupReader()
    self = reader.store(object)
    ignored += reader.problems
  }

  /// Creates a configuration from a JSON file, rejecting unusable entries.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read,
  ///   ``StoreError/Code/invalidJSON``, and the errors of ``init(_:)``.
  public init(contentsOf path: String) throws(StoreError) {
    try self.init(try Self.object(in: path))
  }

  /// Creates a configuration from the valid entries of a JSON file.
  ///
  /// - Parameters:
  ///   - path: The path of the file. A leading tilde is expanded.
  ///   - ignored: Receives an error for each entry that was ignored.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read,
  ///   ``StoreError/Code/invalidJSON``.
  public init(contentsOf path: String, ignored: inout [StoreError]) throws(StoreError) {
    self.init(try Self.object(in: path), ignored: &ignored)
  }

  private static func object(in path: String) throws(StoreError) -> DocumentObject {
    let expanded = NSString(string: path).expandingTildeInPath
    guard let data = FileManager.default.contents(atPath: expanded) else {
      throw StoreError(.cannotOpen, "The setup file cannot be read", [.path: expanded])
    }
    return try DocumentObject(json: data)
  }
}

extension StoreSetup: Codable {
  /// Encodes the configuration in the format of setup files.
  public func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }
  /// Decodes strictly, like ``init(_:)``.
  public init(from decoder: any Decoder) throws { try self.init(DocumentObject(from: decoder)) }
}
