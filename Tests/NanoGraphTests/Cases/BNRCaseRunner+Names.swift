// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Values and objects stored under a name.
extension BNRCaseRunner {
  func performNames(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    let name = step["name"]?.string ?? ""
    switch op {
    case "putNamed": try put(step["items"]?.array ?? [], name)
    case "getNamed":
      if (step["types"]?.array?.first?.string ?? "").hasPrefix("reference") {
        let found = try context.object(named: name, as: Original.Song.self)
        return [
          "items": [found.flatMap { self.name(of: $0) }.map { .string($0) } ?? .null],
          "isNil": .bool(found == nil),
        ]
      }
      guard let value = try context.value(named: name) else {
        return ["isNil": true, "items": .null]
      }
      return ["items": value, "isNil": false]
    case "deleteNamed":
      guard try context.value(named: name) != nil else { return ["error": "notFound"] }
      try store.setMetadata(nil, name)
    case "names": return ["set": .array(try context.names().map { .string($0) })]
    case "namedSongs": return try nameSongs(Int(step["n"]?.int ?? 0))
    case "namedSongsRead":
      let titles = try context.names().map {
        try context.object(named: $0, as: Original.Song.self)?.value("title") ?? .null
      }
      return ["titles": .array(titles)]
    case "roundTrip": return try roundTrip(step["items"]?.array ?? [])
    default: return nil
    }
    return ["ok": true]
  }

  /// Stores a named value immediately, except references, which may refer to new objects.
  private func put(_ items: [DocumentValue], _ name: String) throws {
    let fields = items.compactMap { $0.object?.first }
    if let reference = fields.first(where: { $0.name == "reference" })?.value.string {
      return try context.setObject(object(reference), named: name)
    }
    try store.setMetadata(.array(fields.map(\.value)), name)
  }

  private func nameSongs(_ count: Int) throws -> DocumentObject {
    for number in 0..<count {
      let song = Original.Song()
      song.title = "Untitled \(number)"
      try context.setObject(song, named: "Favorite:\(number)")
    }
    return ["ok": true, "count": .int(Int64(try context.names().count))]
  }

  /// Checks that a value that a buffer of the original can contain round-trips.
  private func roundTrip(_ items: [DocumentValue]) throws -> DocumentObject {
    let value = DocumentValue.array(items.compactMap { $0.object?.first?.value })
    try context.setValue(value, named: "buffer")
    try save()
    try close()
    return ["equal": .bool(try context.value(named: "buffer") == value)]
  }
}
