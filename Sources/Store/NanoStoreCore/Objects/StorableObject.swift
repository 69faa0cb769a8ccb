// SPDX-License-Identifier: MIT

public import NanoDocument
import Synchronization

/// A type of your own that is stored under its name and given back as itself.
///
/// A Codable type needs nothing but a key:
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
/// A program that has not registered `Car` gets a ``Document`` that remembers the name, and saves it
/// back as `Car` with every field.
///
/// Classes may form hierarchies: each one that is stored is registered, and its initializer is
/// `required`.
public protocol StorableObject: SendableMetatype {
  /// The name under which objects are stored; the type's own name unless given.
  static var storedName: String { get }
  /// The text identity; nil to have one made, with each save.
  var storedKey: String? { get }
  /// The fields to be stored.
  func storedFields() throws -> DocumentObject
  init(document: Document) throws
}

extension StorableObject {
  public static var storedName: String { String(describing: Self.self) }
}

extension StorableObject where Self: Codable {
  public func storedFields() throws -> DocumentObject { try DocumentObject(encoding: self) }
  public init(document: Document) throws { self = try document.decoded() }
}

extension StorableObject where Self: Codable & Identifiable, ID == String {
  public var storedKey: String? { id }
}

extension Document: StorableObject {
  /// Not used: a document is stored under the name that it remembers.
  public static var storedName: String { "" }
  public var storedKey: String? { key }
  public func storedFields() throws -> DocumentObject { try object() }
  public init(document: Document) throws { self = document }
}

/// The types that a program knows, by the names under which their objects are stored.
///
/// One for each store; what is registered counts from then on, in any order.
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

  /// The name that objects of a type are stored under.
  func name(of type: any StorableObject.Type) -> String {
    state.withLock { $0.names[ObjectIdentifier(type)] } ?? type.storedName
  }

  func type(_ name: String) -> (any StorableObject.Type)? {
    state.withLock { $0.types[ExactName(name)] }
  }

  /// Every name whose objects become this type, or one that inherits from it.
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
