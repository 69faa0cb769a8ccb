// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension Store {
  /// Registers a type, so that documents stored under its name are decoded to it.
  ///
  /// ```swift
  /// store.register(Car.self)
  /// store.register(Person.self, as: "Human", aliases: ["Person"])   // renamed: old documents still decode
  /// ```
  public func register(
    _ type: any StorableObject.Type, as name: String? = nil, aliases: [String] = []
  ) {
    types.register(type, name ?? type.storedName, aliases: aliases)
  }

  /// Returns the name that objects of a type are stored under.
  package func storedName(of type: any StorableObject.Type) -> String { types.name(of: type) }

  /// Returns the object that a document represents: a value of its registered type, or the document
  /// itself.
  ///
  /// - Throws: An error thrown by the type's initializer if the fields do not match.
  public func object(_ document: Document) throws -> any StorableObject {
    guard let name = document.type, let type = types.type(name) else { return document }
    return try type.init(document: document)
  }
}

extension DocumentCollection {
  /// Saves an object under its key and class name, replacing the document with the same key.
  @discardableResult
  public func save(_ object: some StorableObject) throws -> Document {
    try saveObject(try document(object))
  }
  /// The asynchronous form of `save(_:)`, which does not block the calling thread. The object is
  /// sent to the writer.
  @discardableResult
  public func save(_ object: sending some StorableObject) async throws -> Document {
    try await onWriter(sending: object) { try self.save($0) }
  }

  /// Inserts an object as a new document.
  @discardableResult
  public func insert(_ object: some StorableObject) throws -> Document {
    try write(.insert, try document(object))
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread. The object is
  /// sent to the writer.
  @discardableResult
  public func insert(_ object: sending some StorableObject) async throws -> Document {
    try await onWriter(sending: object) { try self.insert($0) }
  }

  /// Saves objects of any mix of classes, atomically.
  @discardableResult
  public func save(objects: [any StorableObject]) throws -> [Int64] {
    let documents = try objects.map { try document($0) }
    guard documents.contains(where: isReadByRowID) else { return try save(documents) }
    return try store.write {
      try documents.map { document in
        guard let rowID = try saveObject(document).rowID else {
          throw StoreError(
            .corruptDocument, "A stored document has no row ID", [.collection: name])
        }
        return rowID
      }
    }
  }
  /// The asynchronous form of `save(objects:)`, which does not block the calling thread. The
  /// objects are sent to the writer.
  @discardableResult
  public func save(objects: sending [any StorableObject]) async throws -> [Int64] {
    try await onWriter(sending: objects) { try self.save(objects: $0) }
  }

  /// Returns the object with this key, decoded to its class, or nil if there is none.
  public func object(_ key: String) throws -> (any StorableObject)? {
    try get(key).map { try store.object($0) }
  }
  /// The asynchronous form of `object(_:)`, which does not block the calling thread.
  public func object(_ key: String) async throws -> sending (any StorableObject)? {
    try await fromReader { try self.object(key) }
  }

  /// Returns the document that is stored for an object.
  func document(_ object: any StorableObject) throws -> Document {
    if let document = object as? Document { return document }
    return try Document(
      object.storedFields(), key: object.storedKey, type: store.types.name(of: type(of: object)))
  }

  /// Whether a document was read from this collection and is identified by its row ID: an object of an unregistered class
  /// without a key.
  private func isReadByRowID(_ document: Document) -> Bool {
    document.key == nil && document.rowID != nil && document.header.isFrom(name)
  }

  /// Saves the document of an object: in its row, if it was read by its row ID.
  private func saveObject(_ document: Document) throws -> Document {
    isReadByRowID(document) ? try replace(document) : try write(.save, document)
  }

  /// Returns the distinct class names of the stored documents, sorted.
  public func types() throws -> [String] {
    try reading(.call) { try $0.types(in: name) }
  }
  /// The asynchronous form of `types()`, which does not block the calling thread.
  public func types() async throws -> [String] { try await onReader { try self.types() } }

  /// Returns a query for the documents stored as this class, excluding subclasses.
  public func find(type name: String) -> DocumentQuery { find(.type(name)) }
}

extension DocumentQuery {
  /// Returns the results, each decoded to the class that it was stored as.
  ///
  /// Documents whose class is not registered are returned as documents.
  public func objects() throws -> [any StorableObject] {
    let store = collection.store
    return try fetch().map { try store.object($0) }
  }
  /// The asynchronous form of `objects()`, which does not block the calling thread.
  public func objects() async throws -> sending [any StorableObject] {
    try await fromReader { try $0.objects() }
  }

  /// Returns the results that are objects of one class and, by default, its subclasses.
  public func objects<Object: StorableObject>(
    of type: Object.Type, includingSubclasses: Bool = true
  ) throws -> [Object] {
    let store = collection.store
    let names = store.types.names(of: type, includingSubclasses: includingSubclasses)
    let ofType = Condition.membership(.attribute(.type), names.map { .value(.string($0)) })
    return try self.where(ofType).fetch().compactMap { document in
      guard let name = document.type, let known = store.types.type(name) else {
        return try Object(document: document)
      }
      return try known.init(document: document) as? Object
    }
  }
  /// The asynchronous form of `objects(of:includingSubclasses:)`, which does not block the calling
  /// thread.
  public func objects<Object: StorableObject>(
    of type: Object.Type, includingSubclasses: Bool = true
  ) async throws -> sending [Object] {
    try await fromReader { try $0.objects(of: type, includingSubclasses: includingSubclasses) }
  }
}
