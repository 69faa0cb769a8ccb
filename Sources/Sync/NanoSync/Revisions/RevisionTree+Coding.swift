// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The stored form of a tree: Base64 without padding of one entry for each revision, parents first.
///
/// An entry begins with flags. A revision whose parent is the previous entry takes 17 bytes, a root two more.
extension RevisionTree {
  private enum Flag {
    static let deleted: UInt8 = 1
    /// The hash is not 16 bytes, and preceded by its length.
    static let text: UInt8 = 2
    static let root: UInt8 = 4
    /// The parent is not the previous entry, and its index follows.
    static let branch: UInt8 = 8
  }

  package var storedText: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(nodes.count * 19)
    for (index, node) in nodes.enumerated() {
      var flags = node.isDeleted ? Flag.deleted : 0
      let hash = node.id.hash.bytes
      if case .text = node.id.hash { flags |= Flag.text }
      if node.parent == nil { flags |= Flag.root }
      if let parent = node.parent, parent != index - 1 { flags |= Flag.branch }
      bytes.append(flags)
      if flags & Flag.root != 0 { Self.append(UInt64(node.id.generation), to: &bytes) }
      if flags & Flag.branch != 0, let parent = node.parent {
        Self.append(UInt64(parent), to: &bytes)
      }
      if flags & Flag.text != 0 { Self.append(UInt64(hash.count), to: &bytes) }
      bytes += hash
    }
    var text = Data(bytes).base64EncodedString()
    while text.utf8.last == UInt8(ascii: "=") { text.removeLast() }
    return text
  }

  /// Nil for any text that is not the stored form of a tree.
  package init?(storedText text: String) {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: text + padding) else { return nil }
    var rest = Array(data)[...]
    var nodes: [Node] = []
    while let flags = rest.popFirst() {
      var parent: Int? = nodes.count - 1
      if flags & Flag.root != 0 { parent = nil }
      var generation: Int?
      if flags & Flag.root != 0 {
        guard let value = Self.number(&rest), let given = Int(exactly: value) else { return nil }
        generation = given
      }
      if flags & Flag.branch != 0 {
        guard let value = Self.number(&rest), value < nodes.count else { return nil }
        parent = Int(value)
      }
      var length = 16
      if flags & Flag.text != 0 {
        guard let value = Self.number(&rest), value <= rest.count else { return nil }
        length = Int(value)
      }
      guard rest.count >= length, parent.map({ nodes.indices.contains($0) }) ?? true else {
        return nil
      }
      let bytes = rest.prefix(length)
      rest = rest.dropFirst(length)
      let hash: RevisionHash
      if flags & Flag.text != 0 {
        hash = .text(ExactName(String(decoding: bytes, as: UTF8.self)))
      } else {
        let word = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        hash = .digest(word(bytes.prefix(8)), word(bytes.suffix(8)))
      }
      guard
        let generation = generation ?? parent.map({ RevisionID.generation(after: nodes[$0].id) }),
        generation > 0
      else { return nil }
      nodes.append(
        Node(
          id: RevisionID(generation: generation, hash: hash), parent: parent,
          isDeleted: flags & Flag.deleted != 0))
    }
    guard !nodes.isEmpty else { return nil }
    self.init(nodes: nodes)
  }

  /// Appends a number in groups of seven bits, the least significant first.
  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var value = value
    while value > 0x7F {
      bytes.append(UInt8(value & 0x7F) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }

  private static func number(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
    var (value, shift) = (UInt64(0), UInt64(0))
    while let byte = bytes.popFirst() {
      guard shift < 63 else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    return nil
  }
}
