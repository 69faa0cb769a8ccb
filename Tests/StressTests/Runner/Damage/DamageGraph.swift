// SPDX-License-Identifier: MIT

import NanoStoreModels

/// The classes of the sample ``DamageSamples/Kind/models``.
enum EarlierDamageGraph {
  @Model(collection: "tracks") final class Track {
    var name: String

    init(_ name: String) { self.name = name }
  }
}

@Model(collection: "tracks", version: 2) final class DamagedTrack {
  @Indexed var title: String
  var seconds = 0
  @Inverse var albums: [DamagedAlbum]

  static let upgrades = [
    ModelUpgrade(from: 1) { fields in
      fields["title"] = fields["name"]
      fields["name"] = nil
    }
  ]

  init(_ title: String, _ seconds: Int) {
    self.title = title
    self.seconds = seconds
  }
}

@Model(collection: "albums") final class DamagedAlbum {
  @Unique var title: String
  @Relationship(inverse: \DamagedTrack.albums) var tracks: [DamagedTrack] = []
  @Relationship var single: DamagedTrack?
  @Relationship var things: [any GraphObject] = []

  init(_ title: String) { self.title = title }
}

/// Objects and values of model classes, and how they are read from a damaged store.
///
/// Properties cannot throw. If the content of an object cannot be loaded, they have placeholder values, and the context
/// reports the error, which counts as the result here.
enum DamageGraph {
  static let collections = ["tracks", "albums", "members"]

  static func fill(_ store: Store) throws {
    let earlier = ObjectContext(store)
    for number in 0..<20 { try earlier.insert(EarlierDamageGraph.Track("T\(number)")) }
    try earlier.save()
    let context = ObjectContext(store)
    var tracks = try context.all(DamagedTrack.self)
    // Those that are changed are stored in the new version.
    for track in tracks.prefix(5) { track.seconds = 60 }
    tracks += (20..<40).map { DamagedTrack("T\($0 % 30)", $0) }
    for number in 0..<8 {
      let album = try context.insert(DamagedAlbum("A\(number)"))
      album.tracks = (0..<6).map { tracks[(number * 5 + $0 * $0) % tracks.count] }
      album.single = tracks[number * 3]
      album.things = [tracks[number], album]
    }
    try context.save()
    try store[Before.Member.self].insert(
      (0..<15).map { Before.Member(id: "m\($0)", name: "F\($0 % 4) L\($0)", points: $0) })
    try store[After.Member.self].insert((15..<30).map(After.member))
  }

  /// Performs work on a new context, and throws the first error of loading an object.
  private static func load(
    _ store: Store, _ work: (ObjectContext) throws -> [String]
  ) throws -> String {
    let context = ObjectContext(store)
    var failure: (any Error)?
    context.loadFailureHandler = { failure = failure ?? $1 }
    let lines = try work(context)
    if let failure { throw failure }
    return lines.joined(separator: "\n")
  }

  private static func id(_ object: some GraphObject) -> String {
    object.objectID.map { "\($0.rowID)" } ?? ""
  }

  private static func line(_ track: DamagedTrack) -> String {
    "\(id(track)) \(track.title) \(track.seconds)"
  }

  static let contents = [
    DamageUse.Operation("members") { store in
      try store[After.Member.self].find().fetch().map { "\($0)" }.joined(separator: "\n")
    },
    DamageUse.Operation("objects") { store in
      try load(store) { context in
        try context.all(DamagedAlbum.self).map { album in
          let things = album.things.map { "\(type(of: $0)) \(id($0))" }
          return
            "\(album.title): \(album.tracks.map(line)) \(album.single.map(line) ?? "") \(things)"
        }
      }
    },
  ]

  /// Each result is found with an index or by row ID, and computed from all values or objects.
  ///
  /// Documents of an earlier version have their upgraded fields only when they are read. A condition finds them by these
  /// fields after an upgrade.
  static let comparisons: [DamageUse.Comparison] = [
    DamageUse.Comparison(
      "members by index",
      found: { store in
        try store[After.Member.self].find(\.first == "F3").fetch().map { "\($0)" }
          .joined(separator: ",")
      },
      defined: { store in
        try DamageUse.scan(store, "members").filter { try $0.object()["first"] == "F3" }
          .map { "\(try $0.decoded(as: After.Member.self))" }.joined(separator: ",")
      }),
    DamageUse.Comparison(
      "objects by index",
      found: { try load($0) { try $0.find(\DamagedTrack.title == "T7").fetch().map(line) } },
      defined: { store in
        let rows = try DamageUse.scan(store, "tracks").filter { try $0.object()["title"] == "T7" }
          .compactMap(\.rowID)
        return try load(store) { context in
          try context.all(DamagedTrack.self).filter { rows.contains($0.objectID?.rowID ?? 0) }
            .map(line)
        }
      }),
    DamageUse.Comparison(
      "inverse relationships",
      found: { store in
        try load(store) { context in
          try context.all(DamagedTrack.self).map { track in
            "\(id(track)): \(track.albums.map(id).sorted())"
          }
        }
      },
      defined: { store in
        try load(store) { context in
          let albums = try context.all(DamagedAlbum.self)
          return try context.all(DamagedTrack.self).map { track in
            let containing = albums.filter { $0.tracks.contains { $0 === track } }
            return "\(id(track)): \(containing.map(id).sorted())"
          }
        }
      }),
    DamageUse.Comparison(
      "faults",
      found: { store in
        try load(store) { context in
          try context.all(DamagedAlbum.self).flatMap { $0.tracks.map(line) }
        }
      },
      defined: { store in
        try load(store) { context in
          // Loads all tracks with one query, so that none is a fault.
          let tracks = try context.all(DamagedTrack.self)
          return try context.all(DamagedAlbum.self).flatMap { album in
            album.tracks.map { one in tracks.first { $0 === one }.map(line) ?? line(one) }
          }
        }
      }),
  ]

  static let changes = [
    DamageUse.Operation("save objects") { store in
      try edit(store) { context in
        guard let track = try context.find(DamagedTrack.self).first(),
          let album = try context.find(DamagedAlbum.self).first()
        else { return }
        track.title = "edited"
        album.tracks.append(DamagedTrack("new", 1))
      }
    },
    DamageUse.Operation("delete objects") { store in
      try edit(store) { context in
        if let track = try context.find(DamagedTrack.self).first() { try context.delete(track) }
      }
    },
    DamageUse.Operation("upgrade objects") { store in
      let context = ObjectContext(store)
      return "\(try context.upgrade(DamagedTrack.self)) \(try store[After.Member.self].upgrade())"
    },
  ]

  private static func edit(_ store: Store, _ work: (ObjectContext) throws -> Void) throws -> String
  {
    let context = ObjectContext(store)
    do {
      try work(context)
      try context.save()
      return ""
    } catch let error as ObjectConflictError {
      // An object whose content could not be loaded was changed.
      return error.description
    }
  }
}
