// SPDX-License-Identifier: MIT

import Foundation
import NanoLegacy
import NanoStoreLegacy

extension FuzzTarget {
  /// Decodes a property list or keyed archive. The value must be one that a document can hold.
  static let archive = FuzzTarget("archive", maximumLength: 1_200) { bytes in
    guard let value = KeyedArchive.decoded(Array(bytes)) else { return }
    let text = DocumentObject([("value", value)]).jsonString()
    _ = try DocumentObject(json: text)
  }

  /// Imports a SQLite file of NanoStore for Objective-C or of NTJsonStore.
  static let oldFile = FuzzTarget("old-file", maximumLength: 6_000) { bytes in
    try withFolder { folder in
      let file = folder.appending(path: "old.db")
      try Data(bytes).write(to: file)
      try checkImport(of: file)
    }
  }

  /// Imports a folder of BNRPersistence with one class. The first byte selects the name of the class; the rest is its
  /// file.
  static let oldFolder = FuzzTarget("old-folder", maximumLength: 2_500) { bytes in
    guard let first = bytes.first else { return }
    try withFolder { folder in
      let name = ["Song", "Everything", "Unknown", "NamedBuffers"][Int(first % 4)]
      try Data(bytes.dropFirst()).write(to: folder.appending(path: name))
      try checkImport(of: folder)
    }
  }

  private static func withFolder(_ work: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try work(folder)
  }

  /// The errors that an import of damaged bytes may have.
  private static let expected: Set<StoreError.Code> = [
    .notADatabase, .corruptFile, .cannotOpen, .unsupported, .wrongKey,
  ]

  /// Imports everything. The report must agree with the store, and after an error the store must be empty.
  private static func checkImport(of old: URL) throws {
    let store = try Store(.memory)
    defer { try? store.close() }
    var options = LegacyImportOptions()
    options.schema = try schema()
    do {
      let report = try store.importLegacy(from: old, options: options)
      let stored = try store.collections().reduce(0) { try $0 + store[$1.name].count() }
      let reported = report.classes.reduce(0) { $0 + ($1.collection == nil ? 0 : $1.imported) }
      try require(
        stored == reported, "\(stored) documents are stored, and \(reported) reported")
    } catch let error as StoreError {
      try require(expected.contains(error.code), "\(error)")
      try require(try store.collections().isEmpty, "An import that failed left documents")
    }
  }

  private static func schema() throws -> BNRSchema {
    try BNRSchema(
      classes: [
        .init("Song", [.init("title", .text), .init("seconds", .uint32)], textIndexes: ["title"]),
        .init(
          "Everything",
          [
            .init("text", .text), .init("data", .data), .init("date", .date),
            .init("float32", .float32), .init("float64", .float64), .init("uint32", .uint32),
            .init("uint8", .uint8), .init("archive", .archive),
            .init("song", .reference(to: "Song")),
            .init("any", .anyReference), .init("songs", .array(of: "Song")),
            .init("mixed", .mixedArray),
          ]),
      ])
  }
}
