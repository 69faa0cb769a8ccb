// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoStoreCore

extension Bag {
  /// Adds an object. It is saved with the bag, under the name of its class.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - collection: The collection to save it in.
  /// - Returns: The document that represents the object.
  /// - Throws: The errors of ``add(_:in:)-(Document,_)``, and an error thrown when the object is
  ///   encoded.
  @discardableResult
  public func add(object: some StorableObject, in collection: String) throws -> Document {
    let name = store?.storedName(of: type(of: object)) ?? type(of: object).storedName
    return try add(
      Document(try object.storedFields(), key: object.storedKey, type: name), in: collection)
  }
}

extension BagPart {
  /// Returns the documents, each decoded to the class that it was stored as.
  ///
  /// Documents whose class is not registered are returned as documents.
  public func objects(limit: Int? = nil, offset: Int = 0) throws -> [any StorableObject] {
    let store = bag.store
    return try documents(limit: limit, offset: offset).map { try store?.object($0) ?? $0 }
  }
  /// The asynchronous form of `objects(limit:offset:)`, which does not block the calling thread.
  public func objects(
    limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [any StorableObject] {
    try await bag.onReader { SendingBox(try self.objects(limit: limit, offset: offset)) }.take()
  }
}
