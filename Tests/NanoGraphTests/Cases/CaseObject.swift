// SPDX-License-Identifier: MIT

import NanoStoreModels

/// A class whose properties are accessed by the cases by name.
protocol CaseObject: GraphObject {
  typealias Text = ReferenceWritableKeyPath<Self, String?>
  typealias Number = ReferenceWritableKeyPath<Self, Int>
  typealias Real = ReferenceWritableKeyPath<Self, Double>
  typealias Others = ReferenceWritableKeyPath<Self, DocumentObject>

  init()
  static var texts: [String: Text] { get }
  static var numbers: [String: Number] { get }
  static var reals: [String: Real] { get }
  /// The property for fields that a case invents; nil if there is none.
  static var others: Others? { get }
  /// The relationships to one object at most.
  static var toOneFields: Set<String> { get }
  /// Returns the objects of a relationship; nil if the field is not a relationship.
  func targets(_ field: String) -> [any CaseObject]?
  func setTargets(_ field: String, _ targets: [any CaseObject])
}

extension CaseObject {
  static var texts: [String: Text] { [:] }
  static var numbers: [String: Number] { [:] }
  static var reals: [String: Real] { [:] }
  static var others: Others? { nil }
  static var toOneFields: Set<String> { [] }
  func targets(_ field: String) -> [any CaseObject]? { nil }
  func setTargets(_ field: String, _ targets: [any CaseObject]) {}

  static func hasField(_ name: String) -> Bool {
    texts[name] != nil || numbers[name] != nil || reals[name] != nil || others != nil
      || Self().targets(name) != nil
  }

  /// Returns the value of a property; nil if there is no such property.
  func value(_ field: String) -> DocumentValue? {
    if let path = Self.texts[field] { return self[keyPath: path].map { .string($0) } ?? .null }
    if let path = Self.numbers[field] { return .int(Int64(self[keyPath: path])) }
    if let path = Self.reals[field] { return .double(self[keyPath: path]) }
    return Self.others.map { self[keyPath: $0][field] ?? .null }
  }

  func setValue(_ field: String, _ value: DocumentValue) {
    if let path = Self.texts[field] {
      self[keyPath: path] = value.string
    } else if let path = Self.numbers[field] {
      self[keyPath: path] = value.int.map { Int($0) } ?? 0
    } else if let path = Self.reals[field] {
      self[keyPath: path] = value.double ?? 0
    } else if let path = Self.others {
      self[keyPath: path][field] = value
    }
  }

  /// Marks the object as changed without changing a value.
  func touch() {
    if let path = Self.texts.values.first { self[keyPath: path] = self[keyPath: path] }
    if let path = Self.numbers.values.first { self[keyPath: path] += 0 }
    if let path = Self.reals.values.first { self[keyPath: path] += 0 }
  }
}
