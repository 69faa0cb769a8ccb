// SPDX-License-Identifier: MIT

/// The element type of a type, derived from its spelling by removing optionals, arrays, sets and dictionaries.
struct NamedType {
  private(set) var name: String
  private(set) var isList = false
  private(set) var isDictionary = false
  private var hasOtherKeys = false
  /// The key types of dictionaries whose names do not show that they are `Codable`.
  private(set) var unknownKeys: [String] = []

  init(_ type: PropertyType) { self.init(type.wrapped ?? type.text) }

  init(_ text: String) {
    name = text.filter { $0 != " " }
    while peel() {}
  }

  /// Removes one layer; false if there is none.
  private mutating func peel() -> Bool {
    for module in ["Swift.", "Foundation."] where name.hasPrefix(module) {
      name.removeFirst(module.count)
      return true
    }
    if name.hasSuffix("?") || name.hasSuffix("!") {
      name.removeLast()
      return true
    }
    if let inner = inside("[", "]") {
      let parts = Self.parts(inner, ":")
      if parts.count == 2 { setDictionary(parts) } else { setList(inner) }
      return true
    }
    if let inner = inside("Array<", ">") ?? inside("Set<", ">") {
      setList(inner)
      return true
    }
    if let inner = inside("Optional<", ">") ?? inside("(", ")") {
      name = inner
      return true
    }
    if let inner = inside("Dictionary<", ">") {
      let parts = Self.parts(inner, ",")
      guard parts.count == 2 else { return false }
      setDictionary(parts)
      return true
    }
    return false
  }

  private func inside(_ opening: String, _ closing: String) -> String? {
    guard name.hasPrefix(opening), name.hasSuffix(closing) else { return nil }
    return String(name.dropFirst(opening.count).dropLast(closing.count))
  }

  private mutating func setList(_ element: String) {
    isList = true
    name = element
  }

  private mutating func setDictionary(_ parts: [String]) {
    isDictionary = true
    if parts[0] != "String" { hasOtherKeys = true }
    let key = NamedType(parts[0]).name
    if !Self.scalars.contains(key) { unknownKeys.append(key) }
    name = parts[1]
  }

  /// Splits text at separators outside brackets.
  private static func parts(_ text: String, _ separator: Character) -> [String] {
    var parts = [""]
    var depth = 0
    for character in text {
      if "[<(".contains(character) { depth += 1 }
      if "]>)".contains(character) { depth -= 1 }
      if character == separator, depth == 0 {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }

  private static let integers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32",
    "UInt64", "UInt128",
  ]
  private static let scalars = integers.union([
    "String", "Bool", "Double", "Float", "Date", "Data", "URL", "UUID", "Decimal",
  ])
  private static let keys: Set<String> = ["String", "UUID", "Int", "Int64"]
  /// Types that are stored as strings; a program may conform them to `TextIndexable`.
  private static let strings: Set<String> = ["UUID"]

  /// Whether the element type is one that documents can store, judging by its name alone.
  var isScalar: Bool { Self.scalars.contains(name) }

  /// Whether documents can store the type, judging by its name alone.
  var isSurelyStored: Bool { isScalar && !hasOtherKeys }

  /// Whether the type can be a key, or nil if the name is inconclusive.
  var isKey: Bool? {
    if isList || isDictionary { return false }
    if Self.keys.contains(name) { return true }
    // A program may conform any integer type to `ModelKey`.
    if Self.integers.contains(name) { return nil }
    return Self.scalars.contains(name) ? false : nil
  }

  /// Whether the type contains text to index, or nil if the name is inconclusive.
  var hasText: Bool? {
    if isDictionary { return false }
    if name == "String" { return true }
    if Self.strings.contains(name) { return nil }
    return Self.scalars.contains(name) ? false : nil
  }
}
