// SPDX-License-Identifier: MIT

import NanoStoreModels

/// The shapes of the original's benchmarks, and the graph of its demo.
extension BNRCaseRunner {
  func performShapes(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "songs":
      for number in 0..<Int(step["n"]?.int ?? 0) {
        try context.insert(song(step["title"]?.string ?? "", number))
      }
    case "playlists":
      let count = Int(step["songsPerList"]?.int ?? 100)
      for number in 0..<Int(step["playlists"]?.int ?? 0) {
        let list = Original.Playlist()
        list.title = "Test Playlist"
        list.songs = (0..<count).map { place in
          let song = number * count + place
          return self.song("Test Song \(song)", song)
        }
        try context.insert(list)
      }
    case "insertTitles":
      let titles = (step["titles"] ?? step["items"] ?? step["values"])?.array?.compactMap(\.string)
      guard let titles else { throw failure("the step names no titles") }
      for (number, title) in titles.enumerated() {
        try context.insert(song(title, number))
      }
      return ["count": .int(Int64(titles.count))]
    case "updateEveryThird":
      let songs = try context.all(Original.Song.self)
      let changed = stride(from: 0, to: songs.count, by: 3).map { songs[$0] }
      for song in changed { song.title = step["title"]?.string ?? "New Song Title" }
      let count = DocumentValue.int(Int64(changed.count))
      return ["count": count, "updated": count, "value": count]
    case "graph":
      try makeGraph(step)
      return [
        "nodes": .int(Int64(try count(Original.GRLNode.self))),
        "edges": .int(Int64(try count(Original.GRLEdge.self))),
      ]
    default: return nil
    }
    return ["ok": true]
  }

  private func song(_ title: String, _ seconds: Int) -> Original.Song {
    let song = Original.Song()
    song.title = title
    song.seconds = seconds
    return song
  }

  /// Counts stored and new objects, without deleted ones.
  private func count<Object: CaseObject>(_ type: Object.Type) throws -> Int {
    try context.find(type).count()
  }

  private func makeGraph(_ step: DocumentObject) throws {
    for name in (step["nodes"]?.array ?? []).compactMap(\.string) {
      bind(name, try context.insert(Original.GRLNode()))
    }
    for ends in (step["edges"]?.array ?? []).compactMap(\.array) {
      let edge = Original.GRLEdge()
      edge.source = try object(ends.first?.string ?? "") as? Original.GRLNode
      edge.destination = try object(ends.last?.string ?? "") as? Original.GRLNode
      try context.insert(edge)
    }
  }
}
