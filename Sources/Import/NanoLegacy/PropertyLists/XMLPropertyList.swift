// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A property list in XML, parsed without Foundation, which loses the difference between some types
/// of numbers on Linux, and without an XML library, whose entities could expand without limit.
struct XMLPropertyList: PropertyList {
  private var objects: [PropertyListObject] = []
  private(set) var root = 0

  static func isLikely(_ bytes: some Collection<UInt8>) -> Bool {
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    rest = rest.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    return rest.starts(with: "<?xml".utf8) || rest.starts(with: "<plist".utf8)
      || rest.starts(with: "<!DOCTYPE".utf8)
  }

  init(_ bytes: [UInt8]) throws(PropertyListError) {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw PropertyListError("the property list is not valid UTF-8")
    }
    var parser = XMLScanner(bytes)
    guard case .open("plist", let isEmpty)? = try parser.tag(), !isEmpty else { throw Self.damaged }
    guard case .open(let name, let isEmpty)? = try parser.tag() else { throw Self.damaged }
    root = try read(name, isEmpty, &parser, depth: 0)
    guard try parser.tag() == .close("plist"), try parser.tag() == nil else { throw Self.damaged }
  }

  func object(_ number: Int) throws(PropertyListError) -> PropertyListObject {
    guard objects.indices.contains(number) else { throw Self.damaged }
    return objects[number]
  }

  private static let damaged = PropertyListError("the property list is not well-formed")

  private mutating func add(_ object: PropertyListObject) -> Int {
    objects.append(object)
    return objects.count - 1
  }

  private mutating func read(
    _ name: String, _ isEmpty: Bool, _ parser: inout XMLScanner, depth: Int
  ) throws(PropertyListError) -> Int {
    guard depth < KeyedArchive.maximumDepth else {
      throw PropertyListError("the value is nested too deeply")
    }
    switch name {
    case "dict": return try dictionary(isEmpty, &parser, depth)
    case "array": return try array(isEmpty, &parser, depth)
    case "true", "false":
      if !isEmpty { guard try parser.tag() == .close(name) else { throw Self.damaged } }
      return add(.bool(name == "true"))
    default:
      let text = isEmpty ? "" : try parser.text(until: name)
      return add(try Self.leaf(name, text))
    }
  }

  private mutating func dictionary(
    _ isEmpty: Bool, _ parser: inout XMLScanner, _ depth: Int
  ) throws(PropertyListError) -> Int {
    var names: [Int] = []
    var values: [Int] = []
    var isOpen = !isEmpty
    while isOpen {
      switch try parser.tag() {
      case .close("dict"): isOpen = false
      case .open("key", let isEmpty):
        names.append(add(.string(isEmpty ? "" : try parser.text(until: "key"))))
        guard case .open(let name, let isEmpty)? = try parser.tag() else { throw Self.damaged }
        values.append(try read(name, isEmpty, &parser, depth: depth + 1))
      default: throw Self.damaged
      }
    }
    return add(.dictionary(names, values))
  }

  private mutating func array(
    _ isEmpty: Bool, _ parser: inout XMLScanner, _ depth: Int
  ) throws(PropertyListError) -> Int {
    var elements: [Int] = []
    var isOpen = !isEmpty
    while isOpen {
      switch try parser.tag() {
      case .close("array"): isOpen = false
      case .open(let name, let isEmpty):
        elements.append(try read(name, isEmpty, &parser, depth: depth + 1))
      default: throw Self.damaged
      }
    }
    return add(.array(elements))
  }

  private static func leaf(_ name: String, _ text: String) throws(PropertyListError)
    -> PropertyListObject
  {
    switch name {
    case "string": return .string(text)
    case "integer": return try integer(trimmed(text))
    case "real":
      guard let value = real(trimmed(text)) else {
        throw PropertyListError("a number is not valid")
      }
      return .real(value)
    case "date":
      guard let seconds = CivilDate.seconds(ofPropertyList: trimmed(text)) else {
        throw PropertyListError("a date is not valid")
      }
      return .date(seconds)
    case "data":
      let digits = text.utf8.filter { $0 > 0x20 }
      guard let data = Data(base64Encoded: Data(digits)) else {
        throw PropertyListError("data is not valid Base64")
      }
      return .data(Array(data))
    default: throw PropertyListError("the property list has an unknown element")
    }
  }

  private static func trimmed(_ text: String) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var bytes = Array(text.utf8)[...]
    bytes = bytes.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Core Foundation writes decimals and reads hexadecimal numbers too.
  private static func integer(_ text: String) throws(PropertyListError) -> PropertyListObject {
    var digits = Substring(text)
    let isNegative = digits.first == "-"
    if isNegative || digits.first == "+" { digits.removeFirst() }
    let isHexadecimal = digits.lowercased().hasPrefix("0x")
    if isHexadecimal { digits = digits.dropFirst(2) }
    guard !digits.isEmpty, digits.utf8.allSatisfy({ isHexadecimal || (0x30...0x39).contains($0) }),
      digits.utf8.count < 40
    else { throw PropertyListError("a number is not valid") }
    if let value = Int64((isNegative ? "-" : "") + digits, radix: isHexadecimal ? 16 : 10) {
      return .int(value)
    }
    guard !isHexadecimal else { throw PropertyListError("a number is not valid") }
    return .largeInteger((isNegative ? "-" : "") + digits)
  }

  private static func real(_ text: String) -> Double? {
    switch text.lowercased() {
    case "nan": .nan
    case "+infinity", "infinity", "inf", "+inf": .infinity
    case "-infinity", "-inf": -.infinity
    default: text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) } ? Double(text) : nil
    }
  }
}
