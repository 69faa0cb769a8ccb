// SPDX-License-Identifier: MIT

import OrderedCollections

/// Collects the fields of an object during parsing.
///
/// Looking up every name in an ordered dictionary costs more than the parsing itself. A 64-bit Bloom
/// filter rules out most duplicates, so that few names are compared.
struct FieldCollector {
  private var names: ContiguousArray<ExactName> = []
  private var values: ContiguousArray<DocumentValue> = []
  private var seen: UInt64 = 0
  /// Replaces the arrays once the object is large.
  private var large: OrderedDictionary<ExactName, DocumentValue>?

  /// From this count on, hashing is faster than comparing. Ordered dictionaries use the same threshold.
  private static let largeCount = 16

  init() {
    names.reserveCapacity(8)  // arbitrary: the size of a typical object
    values.reserveCapacity(8)
  }

  /// Returns whether the object already has a field of this name.
  ///
  /// - Parameter trace: The name's bit in the filter; see ``trace(_:)``.
  @inline(__always)
  func contains(_ name: String, trace: UInt64) -> Bool {
    // Once an object is large, every bit is set and each name is looked up in the dictionary.
    trace & ~seen != 0 ? false : lookUp(ExactName(name))
  }

  @inline(never)
  private func lookUp(_ name: ExactName) -> Bool {
    large.map { $0.index(forKey: name) != nil } ?? names.contains(name)
  }

  /// Adds a field whose name is not present yet.
  @inline(__always)
  mutating func append(
    _ name: consuming String, _ value: consuming DocumentValue, trace: UInt64
  ) {
    if _slowPath(names.count == Self.largeCount) { return appendLarge(ExactName(name), value) }
    names.append(ExactName(name))
    values.append(value)
    seen |= trace == 0 ? .max : trace  // no bit: compare all later names
    if _slowPath(names.count == Self.largeCount) { seen = .max }
  }

  @inline(never)
  private mutating func appendLarge(_ name: ExactName, _ value: DocumentValue) {
    if large == nil { large = OrderedDictionary(uncheckedUniqueKeys: names, values: values) }
    large?[name] = value
  }

  consuming func object() -> DocumentObject {
    DocumentObject(
      fields: large ?? OrderedDictionary(uncheckedUniqueKeys: names, values: values))
  }

  /// Returns a filter with one bit set for a name. Names with different bits have different bytes.
  @inline(__always)
  static func trace(_ utf8: UnsafeRawBufferPointer) -> UInt64 {
    let count = utf8.count
    guard let base = utf8.baseAddress?.assumingMemoryBound(to: UInt8.self), count > 0 else {
      return 1
    }
    var mixed: UInt64
    if count >= 8 {
      let last = load64(base + (count &- 8))
      mixed = last &* 31
      var at = 0
      while at &+ 8 <= count {
        let word = load64(base + at)
        mixed = (mixed ^ word) &* 0x9E37_79B9_7F4A_7C15
        at &+= 8
      }
    } else {
      mixed = 0
      for index in 0..<count { mixed = mixed << 8 | UInt64(base[index]) }
      mixed = mixed &* 0x9E37_79B9_7F4A_7C15
    }
    return 1 << (mixed >> 58)
  }
}

extension DocumentObject {
  init(fields: OrderedDictionary<ExactName, DocumentValue>) { self.fields = fields }
}
