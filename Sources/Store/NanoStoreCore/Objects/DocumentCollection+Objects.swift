// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

extension Store {
  /// Makes a type known, so that documents stored under its name come back as it.
  ///
  /// ```swift
  /// store.register(Car.self)
  /// store.register(Person.self, as: "Human", aliases: ["Person"])   // renamed: old ones are read too
  /// ```
  public func register(
    _ type: any StorableObject.Type, as name: String? = nil, aliases: [String] = []
  ) {
    types.register(type, name ?? type.storedName, aliases: aliases)
  }

  /// The object that a document becomes: its registered type, or the document itself.
  ///
  /// - Throws: What the type's initializer throws if the fields do not fit.
  public func object(_ document: Document) throws -> any StorableObject {
    guard let name = document.type, let type = types.type(name) else { return document }
    return try type.init(document: document)
  }
}

extension DocumentCollection {
  /// Stores an object under its key and the name of its class, in place of the one with that key.
  @discardableResult
  public func save(_ object: some StorableObject) throws -> Document {
    try write(.save, try document(object))
  }
  @discardableResult
  public func save(_ object: sending some StorableObject) async throws -> Document {
    try await onWriter(handing: object) { try self.save($0) }
  }

  /// Stores an object as new.
  @discardableResult
  public func insert(_ object: some StorableObject) throws -> Document {
    try write(.insert, try document(object))
  }
  @discardableResult
  public func insert(_ object: sending some StorableObject) async throws -> Document {
    try await onWriter(handing: object) { try self.insert($0) }
  }

  /// Stores objects of any classes, mixed, all of them or none.
  @discardableResult
  public func save(objects: [any StorableObject]) throws -> [Int64] {
    try save(objects.map { try document($0) })
  }
  @discardableResult
  public func save(objects: sending [any StorableObject]) async throws -> [Int64] {
    try await onWriter(handing: objects) { try self.save(objects: $0) }
  }

  /// The object with this key, as its class; nil if there is none.
  public func object(_ key: String) throws -> (any StorableObject)? {
    try get(key).map { try store.object($0) }
  }
  public func object(_ key: String) async throws -> sending (any StorableObject)? {
    try await fromReader { try self.object(key) }
  }

  /// What is stored for an object.
  func document(_ object: any StorableObject) throws -> Document {
    if let document = object as? Document { return document }
    return try Document(
      object.storedFields(), key: object.storedKey, type: store.types.name(of: type(of: object)))
  }

  /// The names of classes that documents are stored as, each once, sorted.
  public func types() throws -> [String] {
    try reading(.call) { try $0.types(in: name) }
  }
  public func types() async throws -> [String] { try await onReader { try self.types() } }

  /// The documents stored as this class, not as one that inherits from it.
  public func find(type name: String) -> DocumentQuery { find(.type(name)) }
}

extension DocumentQuery {
  /// What is found, each as the class that it was stored as; documents of classes that this program
  /// does not know stay documents.
  public func objects() throws -> [any StorableObject] {
    let store = collection.store
    return try fetch().map { try store.object($0) }
  }
  public func objects() async throws -> sending [any StorableObject] {
    try await fromReader { try $0.objects() }
  }

  /// Objects of one class and, unless told otherwise, of those that inherit from it.
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
  public func objects<Object: StorableObject>(
    of type: Object.Type, includingSubclasses: Bool = true
  ) async throws -> sending [Object] {
    try await fromReader { try $0.objects(of: type, includingSubclasses: includingSubclasses) }
  }
}
