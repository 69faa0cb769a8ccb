// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Expands the objects of a property list. A keyed archive is a property list whose objects refer
/// to each other through a table, and name their classes.
struct PropertyListDecoder<List: PropertyList> {
  let list: List
  /// The archived objects; nil if the list is not a keyed archive.
  var objects: [Int]?
  var budget: ExpansionBudget
  var notes = ConversionNotes()

  init(_ list: List, size: Int) {
    self.list = list
    budget = ExpansionBudget(archiveSize: size)
  }

  /// Returns an object of the list. Reading is charged to the budget, because it can be repeated without adding
  /// to the value.
  mutating func read(_ number: Int) throws(PropertyListError) -> PropertyListObject {
    let object = try list.object(number)
    try budget.read(object)
    return object
  }

  mutating func rootValue() throws(PropertyListError) -> DocumentValue {
    guard let root = try archiveRoot() else { return try value(list.root, depth: 0) }
    return try archived(root, depth: 0)
  }

  /// Returns the root of a keyed archive; nil for any other property list.
  mutating func archiveRoot() throws(PropertyListError) -> Int? {
    guard case .dictionary = try read(list.root) else { return nil }
    let fields = try fields(of: list.root)
    guard fields["$archiver"] != nil, let table = fields["$objects"], let top = fields["$top"],
      case .array(let objects) = try read(table)
    else { return nil }
    let roots = try self.fields(of: top)
    guard let root = roots["root"] ?? (roots.count == 1 ? roots.first?.value : nil),
      let number = try reference(root)
    else { throw PropertyListError("the archive has no root object") }
    self.objects = objects
    return number
  }

  /// Returns the fields of a dictionary, with the numbers of their values.
  mutating func fields(of number: Int) throws(PropertyListError) -> [ExactName: Int] {
    guard case .dictionary(let names, let values) = try read(number) else {
      throw Self.damaged
    }
    var fields: [ExactName: Int] = [:]
    for (name, value) in zip(names, values) {
      guard case .string(let text) = try read(name) else { throw Self.damaged }
      fields[ExactName(text)] = value
    }
    return fields
  }

  /// Returns the number of an archived object. Archives in XML write references as dictionaries.
  mutating func reference(_ number: Int) throws(PropertyListError) -> Int? {
    switch try read(number) {
    case .uid(let uid): return uid
    case .dictionary(let names, let values):
      guard names.count == 1, case .string("CF$UID") = try read(names[0]),
        case .int(let uid) = try read(values[0])
      else { return nil }
      return Int(exactly: uid)
    default: return nil
    }
  }

  static var damaged: PropertyListError { PropertyListError("the archive is damaged") }
}

extension PropertyListDecoder {
  /// Returns a value outside of the table of an archive.
  mutating func value(_ number: Int, depth: Int) throws(PropertyListError) -> DocumentValue {
    try enter(depth)
    let object = try read(number)
    try budget.take(object.size)
    switch object {
    case .array(let elements):
      return .array(
        try values(elements) { (self, element) throws(PropertyListError) in
          try self.value(element, depth: depth + 1)
        })
    case .dictionary(let names, let values):
      var result = DocumentObject()
      for (name, value) in zip(names, values) {
        guard case .string(let text) = try read(name) else { throw Self.damaged }
        try add(text, try self.value(value, depth: depth + 1), to: &result)
      }
      return .object(result)
    default: return try leaf(object)
    }
  }

  /// Returns an object of the table of an archive.
  mutating func archived(_ uid: Int, depth: Int) throws(PropertyListError) -> DocumentValue {
    try enter(depth)
    guard let objects, objects.indices.contains(uid) else { throw Self.damaged }
    let object = try read(objects[uid])
    try budget.take(object.size)
    switch object {
    case .string("$null") where uid == 0: return .null
    case .dictionary:
      let fields = try fields(of: objects[uid])
      return try instance(fields, depth)
    case .array, .uid: throw Self.damaged
    default: return try leaf(object)
    }
  }

  func enter(_ depth: Int) throws(PropertyListError) {
    guard depth < KeyedArchive.maximumDepth else {
      throw PropertyListError("the value is nested too deeply, or contains itself")
    }
  }

  mutating func values(
    _ numbers: [Int], _ read: (inout Self, Int) throws(PropertyListError) -> DocumentValue
  ) throws(PropertyListError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    for number in numbers { values.append(try read(&self, number)) }
    return values
  }

  mutating func add(
    _ name: String, _ value: DocumentValue, to object: inout DocumentObject
  ) throws(PropertyListError) {
    try budget.take(name.utf8.count)
    if name.utf8.contains(UInt8(ascii: ".")) { notes.add(.nameWithPeriod) }
    guard object.append(name, value) else {
      throw PropertyListError("a dictionary has a name twice")
    }
  }

  mutating func leaf(_ object: PropertyListObject) throws(PropertyListError)
    -> DocumentValue
  {
    switch object {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .largeInteger(let digits): return notes.largeInteger(digits)
    case .real(let value): return .double(value)
    case .date(let seconds): return notes.date(seconds)
    case .data(let bytes): return .data(Data(bytes))
    case .string(let text): return .string(text)
    case .uid, .array, .dictionary: throw Self.damaged
    }
  }
}
