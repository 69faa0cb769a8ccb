// SPDX-License-Identifier: MIT

public import NanoDocument
import Synchronization

/// A type whose values are stored with their class name and decoded to the same class.
///
/// A `Codable` type only needs a key:
///
/// ```swift
/// struct Car: StorableObject, Codable {
///   var key: String
///   var name: String
/// }
/// store.register(Car.self)
/// try garage.save(Car(key: "c1", name: "Mercedes"))
/// let all = try garage.find().objects()        // [any StorableObject]; the first is a Car
/// ```
///
/// A program that has not registered `Car` receives a ``Document`` that keeps the class name, and
/// saving it preserves the class and every field.
///
/// Classes may form hierarchies: register each class that is stored, and declare its initializer
/// `required`.
public protocol StorableObject: SendableMetatype {
  /// The name under which objects are stored. The default is the name of the type.
  static var storedName: String { get }
  /// The key of the object; nil to generate one with each save.
  var storedKey: String? { get }
  /// Returns the fields to store.
  func storedFields() throws -> DocumentObject
  /// Creates an object from a stored document.
  init(document: Document) throws
}

extension StorableObject {
  /// The name of the type.
  public static var storedName: String { String(describing: Self.self) }
}

extension StorableObject where Self: Codable {
  /// Returns the fields that the type encodes with `Codable`.
  public func storedFields() throws -> DocumentObject { try DocumentObject(encoding: self) }
  /// Creates an object by decoding the document with `Codable`.
  public init(document: Document) throws { self = try document.decoded() }
}

extension StorableObject where Self: Codable & Identifiable, ID == String {
  /// The `id` of the object.
  public var storedKey: String? { id }
}

extension Document: StorableObject {
  /// Not used: a document is stored under the class name that it keeps.
  public static var storedName: String { "" }
  /// The key of the document.
  public var storedKey: String? { key }
  /// Returns the fields of the document.
  public func storedFields() throws -> DocumentObject { try object() }
  /// Creates a copy of the document.
  public init(document: Document) throws { self = document }
}

/// The registered types of a store, by the names under which their objects are stored.
///
/// Registrations take effect immediately, in any order.
final class TypeRegistry: Sendable {
  private struct State {
    var types: [ExactName: any StorableObject.Type] = [:]
    var names: [ObjectIdentifier: String] = [:]
  }
  private let state = Mutex(State())

  func register(_ type: any StorableObject.Type, _ name: String, aliases: [String]) {
    state.withLock { state in
      state.names[ObjectIdentifier(type)] = name
      for name in [name] + aliases { state.types[ExactName(name)] = type }
    }
  }

  /// Returns the name that objects of a type are stored under.
  func name(of type: any StorableObject.Type) -> String {
    state.withLock { $0.names[ObjectIdentifier(type)] } ?? type.storedName
  }

  func type(_ name: String) -> (any StorableObject.Type)? {
    state.withLock { $0.types[ExactName(name)] }
  }

  /// Returns every name whose objects decode to this type or, optionally, to a subclass.
  func names(of type: any StorableObject.Type, includingSubclasses: Bool) -> [String] {
    let known = state.withLock { $0.types }
    let names = known.filter { _, candidate in
      candidate == type || (includingSubclasses && Self.inherits(candidate, type))
    }.map(\.key)
    return names.isEmpty ? [type.storedName] : names.sorted().map(\.text)
  }

  private static func inherits(
    _ type: any StorableObject.Type, _ base: any StorableObject.Type
  ) -> Bool {
    func isKind<Base: StorableObject>(of base: Base.Type) -> Bool { type is Base.Type }
    return isKind(of: base)
  }
}
