// SPDX-License-Identifier: MIT

public import NanoDocument

extension Bag {
  /// Adds an object of a type of your own; it is written with the bag, under the name of its class.
  ///
  /// - Parameter collection: Where it is to be saved.
  /// - Returns: The document that it becomes.
  /// - Throws: As ``add(_:in:)-(Document,_)``, and what the object's own encoding throws.
  @discardableResult
  public func add(object: some StorableObject, in collection: String) throws -> Document {
    let name = store?.types.name(of: type(of: object)) ?? type(of: object).storedName
    return try add(
      Document(try object.storedFields(), key: object.storedKey, type: name), in: collection)
  }
}

extension BagPart {
  /// The documents, each as the class that it was stored as; those of classes that this program does
  /// not know stay documents.
  public func objects(limit: Int? = nil, offset: Int = 0) throws -> [any StorableObject] {
    let store = bag.store
    return try documents(limit: limit, offset: offset).map { try store?.object($0) ?? $0 }
  }
  public func objects(
    limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [any StorableObject] {
    try await bag.onReader { SendingBox(try self.objects(limit: limit, offset: offset)) }.take()
  }
}
