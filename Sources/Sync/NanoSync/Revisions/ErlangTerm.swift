// SPDX-License-Identifier: MIT

import NanoDocument

/// Writes JSON values in Erlang's external term format, of which CouchDB's revision hashes are the digest.
///
/// https://www.erlang.org/doc/apps/erts/erl_ext_dist.html, as `term_to_binary` of Erlang 25 writes it with minor version 1.
/// An object is a tuple of one list of pairs, a string a binary.
struct ErlangTerm {
  private(set) var bytes: [UInt8] = [131]

  mutating func atom(_ name: StaticString) {
    bytes.append(100)
    append(UInt16(name.utf8CodeUnitCount))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  mutating func bool(_ value: Bool) { atom(value ? "true" : "false") }

  mutating func integer(_ value: Int64) {
    if let byte = UInt8(exactly: value) {
      bytes += [97, byte]
    } else if let number = Int32(exactly: value) {
      bytes.append(98)
      append(UInt32(bitPattern: number))
    } else {
      var (magnitude, digits) = (value.magnitude, [UInt8]())
      while magnitude > 0 {
        digits.append(UInt8(truncatingIfNeeded: magnitude))
        magnitude >>= 8
      }
      bytes += [110, UInt8(digits.count), value < 0 ? 1 : 0]
      bytes += digits
    }
  }

  mutating func binary(_ value: some Collection<UInt8>) {
    bytes.append(109)
    append(UInt32(value.count))
    bytes.append(contentsOf: value)
  }

  mutating func tuple(_ count: UInt8) { bytes += [104, count] }

  /// Writes a list, whose elements the closure writes.
  mutating func list(_ count: Int, _ elements: (inout ErlangTerm) -> Void) {
    if count > 0 {
      bytes.append(108)
      append(UInt32(count))
      elements(&self)
    }
    bytes.append(106)
  }

  mutating func value(_ value: DocumentValue) {
    switch value {
    case .null: atom("null")
    case .bool(let value): bool(value)
    case .int(let value): integer(value)
    case .double(let value):
      bytes.append(70)
      append(value.bitPattern)
    case .string(let text): binary(Array(text.utf8))
    case .array(let elements): array(elements)
    case .object(let object): self.object(object)
    // Text that was parsed as plain JSON has no other values.
    case .decimal, .date, .data, .url: atom("undefined")
    }
  }

  mutating func object(_ object: DocumentObject) {
    tuple(1)
    list(object.count) { term in
      for (name, value) in object {
        term.tuple(2)
        term.binary(Array(name.utf8))
        term.value(value)
      }
    }
  }

  private mutating func array(_ elements: [DocumentValue]) {
    // A list of bytes is a string in Erlang.
    let small = elements.compactMap { $0.byte }
    guard !elements.isEmpty, small.count == elements.count, small.count <= 0xFFFF else {
      return list(elements.count) { term in for element in elements { term.value(element) } }
    }
    bytes.append(107)
    append(UInt16(small.count))
    bytes += small
  }

  private mutating func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}

extension DocumentValue {
  fileprivate var byte: UInt8? {
    if case .int(let value) = self { UInt8(exactly: value) } else { nil }
  }
}
