// Two devices and a server: each device has its own store, edits the same film offline, and synchronizes.
//
// The argument is the URL of a server, such as that of `nanostore serve`; without one, the devices synchronize directly.

import Foundation
import NanoStore
import NanoStoreSync

let url = CommandLine.arguments.dropFirst().first
let folder = FileManager.default.temporaryDirectory.appending(
  path: "nanostore-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let phone = try Store(.file(folder.appending(path: "phone.db").path))
let laptop = try Store(.file(folder.appending(path: "laptop.db").path))

var options = SyncOptions()
options.defaultRules.counters = ["plays"]

/// Transfers everything that has changed on a device, and what others have changed.
func synchronize(_ device: Store, _ name: String) async throws {
  let target = url.map { SyncTarget.url($0) } ?? .store(device === phone ? laptop : phone)
  let status = try await device.replicate(["films"], with: target, mode: .once, options: options)
    .finish()
  print("\(name): received \(status.pulled), sent \(status.pushed), merged \(status.resolved)")
}

try phone["films"].save(["title": "Alien", "year": 1979, "plays": 10], key: "alien")
try await synchronize(phone, "phone")
try await synchronize(laptop, "laptop")

// Both are offline, and change the same film.
try phone["films"].update("alien", set: ["director": "Ridley Scott", "plays": 12])
try laptop["films"].update("alien", set: ["seen": true, "plays": 13])

for _ in 1...2 {
  try await synchronize(phone, "phone")
  try await synchronize(laptop, "laptop")
}
for (name, device) in [("phone", phone), ("laptop", laptop)] {
  if let film = try device["films"].get("alien") {
    print("\(name): \(try film.object().jsonString())")
  }
}
