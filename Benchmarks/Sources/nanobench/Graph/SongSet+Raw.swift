// SPDX-License-Identifier: MIT

import BenchmarkKit

extension SongSet {
  /// An empty file with tables that hold what a collection of objects does.
  func rawEmpty(_ folder: Folder) throws -> RawConnection {
    let connection = try RawConnection(folder.freshFile("raw.db"), durability: .normal)
    for table in ["songs", "playlists"] {
      try connection.execute(
        "CREATE TABLE \(table)(id INTEGER PRIMARY KEY, added INTEGER, body TEXT NOT NULL)")
    }
    return connection
  }

  /// A file with these songs and playlists, as after a restart of the program.
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
  /// Steps through `id, added, body` rows, reads them where SQLite has them and counts them.
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
  /// When raw SQLite's rows were added, in microseconds since 1970. Arbitrary: of the usual length.
  static let added = 1_795_209_420_125_000
}
