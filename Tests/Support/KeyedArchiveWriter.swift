// SPDX-License-Identifier: MIT

/// An object as `NSKeyedArchiver` archives it.
package indirect enum Archived: Sendable {
  case text(String)
  case int(Int64)
  case real(Double)
  case bool(Bool)
  case data([UInt8])
  case array([Archived])
  case dictionary([(String, Archived)])
  /// An instance of a class, with plain values and references to other objects.
  case instance([String], [(String, ListValue)], [(String, Archived)])

  package static func date(_ seconds: Double) -> Archived {
    .instance(["NSDate", "NSObject"], [("NS.time", .real(seconds))], [])
  }
  package static let null = Archived.instance(["NSNull", "NSObject"], [], [])
  package static func url(_ text: String, base: Archived? = nil) -> Archived {
    .instance(
      ["NSURL", "NSObject"], base == nil ? [("NS.base", .uid(0))] : [],
      [("NS.relative", .text(text))] + (base.map { [("NS.base", $0)] } ?? []))
  }
  package static func mutableText(_ text: String) -> Archived {
    .instance(["NSMutableString", "NSString", "NSObject"], [("NS.string", .text(text))], [])
  }
  package static func mutableData(_ bytes: [UInt8]) -> Archived {
    .instance(["NSMutableData", "NSData", "NSObject"], [("NS.data", .data(bytes))], [])
  }
  package static func decimal(_ mantissa: UInt64, exponent: Int64, isNegative: Bool = false)
    -> Archived
  {
    let bytes = (0..<16).map { $0 < 8 ? UInt8(truncatingIfNeeded: mantissa >> UInt64(8 * $0)) : 0 }
    return .instance(
      ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
      [
        ("NS.mantissa", .data(bytes)), ("NS.exponent", .int(exponent)),
        ("NS.negative", .bool(isNegative)),
        ("NS.length", .int(4)), ("NS.compact", .bool(true)), ("NS.mantissa.bo", .int(1)),
      ], [])
  }
}

/// Writes keyed archives, with each object of the table once.
package struct KeyedArchiveWriter {
  private var objects: [ListValue] = [.text("$null")]
  private var classes: [String: Int] = [:]

  package static func archive(_ root: Archived) -> [UInt8] { PropertyListWriter.binary(list(root)) }

  package static func list(_ root: Archived) -> ListValue {
    var writer = KeyedArchiveWriter()
    let uid = writer.add(root)
    return .dictionary([
      ("$version", .int(100_000)), ("$archiver", .text("NSKeyedArchiver")),
      ("$top", .dictionary([("root", .uid(uid))])), ("$objects", .array(writer.objects)),
    ])
  }

  private mutating func add(_ object: Archived) -> Int {
    let uid = objects.count
    objects.append(.null)
    objects[uid] = value(object)
    return uid
  }

  private mutating func value(_ object: Archived) -> ListValue {
    switch object {
    case .text(let text): .text(text)
    case .int(let number): .int(number)
    case .real(let number): .real(number)
    case .bool(let flag): .bool(flag)
    case .data(let bytes): .data(bytes)
    case .array(let elements):
      .dictionary([
        ("$class", classReference(["NSMutableArray", "NSArray", "NSObject"])),
        ("NS.objects", .array(elements.map { .uid(add($0)) })),
      ])
    case .dictionary(let fields):
      .dictionary([
        ("$class", classReference(["NSMutableDictionary", "NSDictionary", "NSObject"])),
        ("NS.keys", .array(fields.map { .uid(add(.text($0.0))) })),
        ("NS.objects", .array(fields.map { .uid(add($0.1)) })),
      ])
    case .instance(let names, let plain, let references):
      .dictionary(
        [("$class", classReference(names))] + plain + references.map { ($0.0, .uid(add($0.1))) })
    }
  }

  private mutating func classReference(_ names: [String]) -> ListValue {
    if let known = classes[names[0]] { return .uid(known) }
    objects.append(
      .dictionary([("$classname", .text(names[0])), ("$classes", .array(names.map { .text($0) }))]))
    classes[names[0]] = objects.count - 1
    return .uid(objects.count - 1)
  }
}

/// A value of a property list.
package indirect enum ListValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// An unsigned integer, which binary lists write with 16 bytes.
  case unsigned(UInt64)
  case real(Double)
  case float(Float)
  case date(Double)
  case data([UInt8])
  case text(String)
  case uid(Int)
  case array([ListValue])
  case dictionary([(String, ListValue)])
}

/// Writes binary property lists.
package struct PropertyListWriter {
  private var objects: [[UInt8]] = []

  package static func binary(_ root: ListValue) -> [UInt8] {
    var writer = PropertyListWriter()
    let number = writer.add(root)
    return writer.file(root: number)
  }

  /// Writes a list of objects that are encoded already.
  package static func binary(objects: [[UInt8]], root: Int) -> [UInt8] {
    var writer = PropertyListWriter()
    writer.objects = objects
    return writer.file(root: root)
  }

  private func file(root: Int) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for offset in offsets { bytes += Self.number(offset, 4) }
    return bytes + [0, 0, 0, 0, 0, 0, 4, 2] + Self.number(objects.count, 8) + Self.number(root, 8)
      + Self.number(table, 8)
  }

  private static func number(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private mutating func add(_ value: ListValue) -> Int {
    let number = objects.count
    objects.append([])
    objects[number] = encoded(value)
    return number
  }

  private mutating func encoded(_ value: ListValue) -> [UInt8] {
    switch value {
    case .null: return [0]
    case .bool(let flag): return [flag ? 9 : 8]
    case .int(let number): return [0x13] + Self.number(Int(number), 8)
    case .unsigned(let number):
      return [0x14] + Self.number(0, 8) + Self.number(Int(bitPattern: UInt(number)), 8)
    case .real(let number): return [0x23] + Self.number(Int(bitPattern: UInt(number.bitPattern)), 8)
    case .float(let number): return [0x22] + Self.number(Int(number.bitPattern), 4)
    case .date(let number): return [0x33] + Self.number(Int(bitPattern: UInt(number.bitPattern)), 8)
    case .data(let bytes): return Self.marker(0x40, bytes.count) + bytes
    case .text(let text):
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        return Self.marker(0x50, text.utf8.count) + text.utf8
      }
      return Self.marker(0x60, text.utf16.count) + text.utf16.flatMap { Self.number(Int($0), 2) }
    case .uid(let number): return [0x81] + Self.number(number, 2)
    case .array(let elements):
      let numbers = elements.map { add($0) }
      return Self.marker(0xA0, numbers.count) + numbers.flatMap { Self.number($0, 2) }
    case .dictionary(let fields):
      let names = fields.map { add(.text($0.0)) }
      let values = fields.map { add($0.1) }
      return Self.marker(0xD0, names.count) + (names + values).flatMap { Self.number($0, 2) }
    }
  }

  private static func marker(_ kind: UInt8, _ count: Int) -> [UInt8] {
    count < 15 ? [kind | UInt8(count)] : [kind | 15, 0x13] + number(count, 8)
  }
}
