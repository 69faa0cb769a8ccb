// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation
import NanoStore
import NanoStoreSync

/// How long an edit on one device takes to be visible on another. Both synchronize continuously with a server.
struct EditDelay {
  var milliseconds: [Double]

  static func measure(_ edits: Int, server program: String, in folder: Folder) async throws -> Self
  {
    let server = try await ServerProcess(program, file: folder.file("delay-server.db"))
    defer { server.stop() }
    let phone = try Store(.file(folder.file("phone.db")))
    let laptop = try Store(.file(folder.file("laptop.db")))
    try await Sample.fill(phone, 1000)
    let syncs = try [phone, laptop].map {
      try $0.replicate([Sample.collection], with: .url(server.url))
    }
    var random = SplitMix(seed: 1)
    var delays: [Double] = []
    for edit in 1...edits {
      // Devices change sides, and edits come at any moment of the other's requests.
      let (writer, reader) = edit.isMultiple(of: 2) ? (phone, laptop) : (laptop, phone)
      let number = random.below(1000)
      while try await writer[Sample.collection].get(Sample.key(number)) == nil {
        try await Task.sleep(for: .milliseconds(10))
      }
      try await Task.sleep(for: .milliseconds(20 + random.below(300)))
      let start = ContinuousClock.now
      try await writer[Sample.collection].save(
        Sample.film(number, plays: edit), key: Sample.key(number))
      while try await reader[Sample.collection].get(Sample.key(number))?["plays"]?.int64
        != Int64(edit)
      {
        try await Task.sleep(for: .milliseconds(1))
      }
      delays.append(start.duration(to: .now) / .milliseconds(1))
    }
    for sync in syncs { await sync.stop() }
    return Self(milliseconds: delays.sorted())
  }

  var cells: [String] {
    ["an edit is visible on the other device after"]
      + [0.5, 0.95, 1].map { part in
        let index = min(milliseconds.count - 1, Int(Double(milliseconds.count) * part))
        return String(format: "%.0f ms", milliseconds[index])
      }
  }
}
