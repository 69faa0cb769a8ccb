// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import NanoStoreModels
import NanoTestSupport
import Testing

/// The code of the sections "Importing a file" and "Importing a folder" in the guides for users of the old libraries.
@Suite("Code of the import in docs/COMING-FROM-*.md")
struct LegacyGuideTests {
  private let scratch = try! Scratch()
  private var folder: String { scratch.path }

  @Test("Importing a file of NanoStore for Objective-C")
  func nanoStore() async throws {
    let oldFile = LegacyFixtures.nanoStore
    let people = try Store(.file(folder + "/people.db"))
    let options = LegacyImportOptions(timeZone: TimeZone(identifier: "Europe/Paris")!)
    let report = try await people.importLegacy(from: oldFile, options: options)
    let cars = try await people["objects"].find(type: "Car").fetch()
    for skipped in report.classes.flatMap(\.skippedRecords) {
      print(skipped.position, skipped.key ?? "", skipped.reason)
    }
    #expect(report.imported == 15)
    #expect(cars.map(\.key) == ["car-1"])
  }

  @Test("Importing a file of NTJsonStore")
  func ntJsonStore() async throws {
    let oldFile = LegacyFixtures.ntJsonStore
    let library = try Store(.file(folder + "/imported.db"))
    let report = try await library.importLegacy(from: oldFile)
    let people = library["people"]
    let does = try await people.find("last = 'Doe'").sorted(byText: "[Age]").fetch()
    for skipped in report.classes.flatMap(\.skippedRecords) {
      print(skipped.position, skipped.reason)
    }
    #expect(report.imported == 10)
    #expect(does.map(\.rowID) == [1, 2])
  }

  @Test("Importing a folder of BNRPersistence")
  func bnrPersistence() async throws {
    let oldFolder = LegacyFixtures.url("bnr/library.bnrtc")
    let music = try Store(.memory)
    let schema = try BNRSchema(
      classes: [
        .init("Song", [.init("title", .text), .init("seconds", .uint32)], textIndexes: ["title"]),
        .init("Playlist", [.init("title", .text), .init("songs", .array(of: "Song"))]),
      ],
      namedBuffers: [.init("Favorite:*", [.init("song", .reference(to: "Song"))])])
    let options = LegacyImportOptions(schema: schema, passphrase: nil)
    let report = try await music.importLegacy(from: oldFolder, options: options)
    let context = ObjectContext(music)
    let playlists = try await context.all(Playlist.self)
    let favorite = try context.object(named: "Favorite:0", as: Song.self)
    #expect(report.imported == 12)
    #expect(playlists.count == 4)
    #expect(favorite?.objectID?.rowID == 4)
  }
}
