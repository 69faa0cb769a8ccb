// SPDX-License-Identifier: MIT

import BenchmarkKit

extension SongSet {
  /// Returns an empty file with tables like those of object collections.
  func rawEmpty(_ folder: Folder) throws -> RawConnection {
    let connection = try RawConnection(folder.freshFile("raw.db"), durability: .normal)
    for table in ["songs", "playlists"] {
      try connection.execute(
        "CREATE TABLE \(table)(id INTEGER PRIMARY KEY, added INTEGER, body TEXT NOT NULL)")
    }
    return connection
  }

  /// Returns a reopened file with these songs and playlists.
  func rawFilled(
    _ folder: Folder, songs: StoredDocuments, lists: StoredDocuments? = nil
  ) throws -> RawConnection {
    let file = try {
      let connection = try rawEmpty(folder)
      try connection.transaction {
        try connection.insert(songs, into: "songs")
        if let lists { try connection.insert(lists, into: "playlists") }
      }
      return connection.file
    }()
    return try RawConnection(file, durability: .normal)
  }
}

extension RawConnection {
  /// Commits and checkpoints.
  func transaction(_ work: () throws -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    try work()
    try execute("COMMIT")
    try execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func insert(_ bodies: StoredDocuments, into table: String) throws {
    let insert = try prepare("INSERT INTO \(table)(id,added,body) VALUES(?1,?2,?3)")
    for number in 0..<bodies.count {
      insert.bind(number + 1, at: 1)
      insert.bind(SongSet.added, at: 2)
      insert.bind(text: bodies.body(number), at: 3)
      try insert.run()
    }
  }

  func count(_ table: String) throws -> Int {
    let select = try prepare("SELECT count(*) FROM \(table)")
    return try select.step() ? select.integer(0) : 0
  }
}

extension RawStatement {
  /// Steps through `id, added, body` rows, reads them in place and returns their number.
  func countSongs() throws -> Int {
    var rows = 0
    while try step() {
      _ = integer(0)
      _ = integer(1)
      _ = text(2)
      rows += 1
    }
    reset()
    return rows
  }
}

extension SongSet {
  /// The creation date of rows in raw SQLite, in microseconds since 1970. Arbitrary, with the usual number of digits.
  static let added = 1_795_209_420_125_000
}
