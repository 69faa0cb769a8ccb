// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

/// Lists of revisions by document ID, in the order of a request.
struct RevisionLists: Sendable {
  var ids: [String] = []
  var map = IDMap<[RevisionID]>()
  /// Revisions that cannot exist here, such as those of local documents.
  var others = IDMap<[String]>()

  /// Interprets a JSON object.
  ///
  /// An ID may occur several times: CouchDB's replicator asks so for documents that change while it reads the changes.
  init(_ bytes: [UInt8]) throws(ProtocolError) {
    for (name, value) in try Self.members(bytes) { try add(name, value) }
  }

  private mutating func add(_ id: String, _ value: DocumentValue) throws(ProtocolError) {
    guard let list = value.array else { throw .badRequest("Invalid list of revisions.") }
    if id.hasExactPrefix("_local/") {
      if others[id] == nil { ids.append(id) }
      others[id, default: []] += list.compactMap(\.string)
      return
    }
    if map[id] == nil { ids.append(id) }
    for element in list {
      guard let revision = element.string.flatMap({ RevisionID($0) }) else {
        throw .badRequest("Invalid rev format")
      }
      map[id, default: []].append(revision)
    }
    if map[id] == nil { map[id] = [] }
  }

  /// Splits an object into its members, each of which is then parsed strictly.
  private static func members(
    _ bytes: [UInt8]
  ) throws(ProtocolError) -> [(name: String, value: DocumentValue)] {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard let first = bytes.firstIndex(where: { !isSpace($0) }), bytes[first] == UInt8(ascii: "{"),
      let last = bytes.lastIndex(where: { !isSpace($0) }), bytes[last] == UInt8(ascii: "}"),
      last > first
    else { throw .badRequest("Request body must be a JSON object") }
    let inside = bytes[(first + 1)..<last]
    if inside.allSatisfy(isSpace) { return [] }
    var members: [(name: String, value: DocumentValue)] = []
    for part in parts(inside) {
      let object = try SyncRequest.value([UInt8(ascii: "{")] + part + [UInt8(ascii: "}")]).object
      guard let object, object.count == 1, let member = object.first else {
        throw .badRequest("invalid UTF-8 JSON")
      }
      members.append((member.name, member.value))
    }
    return members
  }

  /// Splits at the commas that are neither in a string nor in a list.
  private static func parts(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var (start, depth, isInString, at) = (bytes.startIndex, 0, false, bytes.startIndex)
    while at < bytes.endIndex {
      switch bytes[at] {
      case UInt8(ascii: "\\") where isInString: at += 1
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "[") where !isInString, UInt8(ascii: "{") where !isInString: depth += 1
      case UInt8(ascii: "]") where !isInString, UInt8(ascii: "}") where !isInString: depth -= 1
      case UInt8(ascii: ",") where !isInString && depth == 0:
        parts.append(bytes[start..<at])
        start = at + 1
      default: break
      }
      at += 1
    }
    return parts + [bytes[start...]]
  }
}
