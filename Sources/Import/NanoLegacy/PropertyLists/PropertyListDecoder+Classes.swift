// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension PropertyListDecoder {
  typealias Fields = [ExactName: Int]

  /// Returns the value that an archived instance of a class represents.
  mutating func instance(_ fields: Fields, _ depth: Int) throws(PropertyListError)
    -> DocumentValue
  {
    let classes = try classNames(fields)
    for name in classes {
      switch name {
      case "NSDictionary", "NSMutableDictionary": return try dictionary(fields, depth)
      case "NSArray", "NSMutableArray": return .array(try elements(fields, "NS.objects", depth))
      case "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
        notes.add(.setAsArray)
        return .array(try elements(fields, "NS.objects", depth))
      case "NSString", "NSMutableString": return try string(fields)
      case "NSDate":
        let seconds = try number(fields, "NS.time")
        return notes.date(seconds)
      case "NSData", "NSMutableData": return .data(Data(try data(fields, "NS.data")))
      case "NSNull": return .null
      case "NSURL": return try url(fields, depth)
      case "NSDecimalNumber": return try decimal(fields)
      case "NSNumber": return try plainNumber(fields)
      case "NSUUID": return try uuid(fields)
      default: continue
      }
    }
    throw PropertyListError("the archive contains an object of a class that has no stored form")
  }

  /// Returns the class and its superclasses, most specific first.
  private mutating func classNames(_ fields: Fields) throws(PropertyListError) -> [String] {
    guard let objects, let field = fields["$class"], let uid = try reference(field),
      objects.indices.contains(uid)
    else { throw Self.damaged }
    let description = try self.fields(of: objects[uid])
    var names: [String] = []
    if let name = description["$classname"], case .string(let text) = try read(name) {
      names.append(text)
    }
    if let all = description["$classes"], case .array(let classes) = try read(all) {
      for name in classes {
        if case .string(let text) = try read(name) { names.append(text) }
      }
    }
    return names
  }

  private mutating func dictionary(_ fields: Fields, _ depth: Int) throws(PropertyListError)
    -> DocumentValue
  {
    let names = try references(fields, "NS.keys")
    let values = try references(fields, "NS.objects")
    guard names.count == values.count else { throw Self.damaged }
    var result = DocumentObject()
    for (name, value) in zip(names, values) {
      guard case .string(let text) = try archived(name, depth: depth + 1) else {
        throw PropertyListError("a dictionary has a name that is not a text")
      }
      try add(text, try archived(value, depth: depth + 1), to: &result)
    }
    return .object(result)
  }

  private mutating func elements(
    _ fields: Fields, _ name: ExactName, _ depth: Int
  ) throws(PropertyListError) -> [DocumentValue] {
    try values(try references(fields, name)) { (self, uid) throws(PropertyListError) in
      try self.archived(uid, depth: depth + 1)
    }
  }

  private mutating func references(_ fields: Fields, _ name: ExactName) throws(PropertyListError)
    -> [Int]
  {
    guard let field = fields[name], case .array(let numbers) = try read(field) else {
      throw Self.damaged
    }
    var uids: [Int] = []
    for number in numbers {
      guard let uid = try reference(number) else { throw Self.damaged }
      uids.append(uid)
    }
    return uids
  }

  /// Returns a field's plain value, which may be in the table.
  private mutating func plain(_ fields: Fields, _ name: ExactName) throws(PropertyListError)
    -> PropertyListObject?
  {
    guard let field = fields[name] else { return nil }
    guard let uid = try reference(field) else { return try read(field) }
    guard let objects, objects.indices.contains(uid) else { throw Self.damaged }
    return try read(objects[uid])
  }
}

extension PropertyListDecoder {
  private mutating func string(_ fields: Fields) throws(PropertyListError) -> DocumentValue {
    if case .string(let text)? = try plain(fields, "NS.string") {
      try budget.take(text.utf8.count)
      return .string(text)
    }
    guard let text = String(validating: try data(fields, "NS.bytes"), as: UTF8.self) else {
      throw Self.damaged
    }
    return .string(text)
  }

  private mutating func data(_ fields: Fields, _ name: ExactName) throws(PropertyListError)
    -> [UInt8]
  {
    switch try plain(fields, name) {
    case .data(let bytes):
      try budget.take(bytes.count)
      return bytes
    case .dictionary:
      // `NS.data` may refer to another data object.
      guard let field = fields[name], let uid = try reference(field), let objects,
        case .data(let bytes)? = try plain(try self.fields(of: objects[uid]), "NS.data")
      else { throw Self.damaged }
      try budget.take(bytes.count)
      return bytes
    default: throw Self.damaged
    }
  }

  private mutating func number(_ fields: Fields, _ name: ExactName) throws(PropertyListError)
    -> Double
  {
    switch try plain(fields, name) {
    case .real(let value): return value
    case .int(let value): return Double(value)
    default: throw Self.damaged
    }
  }

  private mutating func integer(_ fields: Fields, _ name: ExactName) throws(PropertyListError)
    -> Int64
  {
    switch try plain(fields, name) {
    case .int(let value): return value
    case .bool(let value): return value ? 1 : 0
    default: throw Self.damaged
    }
  }

  private mutating func plainNumber(_ fields: Fields) throws(PropertyListError) -> DocumentValue {
    if case .bool(let value)? = try plain(fields, "NS.boolval") { return .bool(value) }
    if case .int(let value)? = try plain(fields, "NS.intval") { return .int(value) }
    return .double(try number(fields, "NS.dblval"))
  }

  private mutating func uuid(_ fields: Fields) throws(PropertyListError) -> DocumentValue {
    let bytes = try data(fields, "NS.uuidbytes")
    guard bytes.count == 16 else { throw Self.damaged }
    let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    notes.add(.uuidAsText)
    return .string(uuid.uuidString)
  }

  private mutating func url(_ fields: Fields, _ depth: Int) throws(PropertyListError)
    -> DocumentValue
  {
    guard case .string(let text)? = try plain(fields, "NS.relative") else { throw Self.damaged }
    try budget.take(text.utf8.count)
    var base: URL?
    let counted = notes
    if let field = fields["NS.base"], let uid = try reference(field), uid != 0 {
      switch try archived(uid, depth: depth + 1) {
      case .url(let url): base = url
      case .string:
        // The base is not a value of its own, and is not counted.
        notes = counted
        return notes.urlAsText(text)
      case .null: break
      default: throw Self.damaged
      }
    }
    // Foundation would encode characters that URLs do not permit, which changes the value.
    guard let url = URL(string: text, relativeTo: base), url.relativeString.hasSameBytes(as: text)
    else {
      return notes.urlAsText(text)
    }
    return .url(url)
  }

  private mutating func decimal(_ fields: Fields) throws(PropertyListError) -> DocumentValue {
    let mantissa = try data(fields, "NS.mantissa")
    let isBigEndian = (try? integer(fields, "NS.mantissa.bo")) == 2
    let exponent = try integer(fields, "NS.exponent")
    let isNegative = try integer(fields, "NS.negative") != 0
    let length = (try? integer(fields, "NS.length")) ?? 8
    guard mantissa.count % 2 == 0, mantissa.count <= 16, (0...8).contains(length),
      (-200...200).contains(exponent)
    else { throw Self.damaged }
    if length == 0, isNegative {
      notes.add(.decimalNumber)
      return .double(.nan)
    }
    let words = stride(from: 0, to: mantissa.count, by: 2).map { index -> UInt16 in
      let (first, second) = (UInt16(mantissa[index]), UInt16(mantissa[index + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    return notes.decimal(words.prefix(Int(length)), Int(exponent), isNegative)
  }
}
