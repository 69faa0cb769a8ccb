// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStoreEncryption
import NanoTestSupport

/// Writes the sample files of a release, and a description of their contents.
///
/// The files are created once for each format and never changed, to test that every later version can open them.
struct SampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample", abstract: "Writes the sample files of this release into a folder.")

  @Argument var folder: String

  func run() throws {
    var configuration = Store.Configuration()
    var engine = SQLiteConfiguration()
    configuration.indexTuning = .off
    try make(
      "plain", try Store(.file(folder + "/plain.db"), configuration: configuration, engine: engine))
    engine.encoding = .utf16
    engine.journalMode = .delete
    try make(
      "utf16", try Store(.file(folder + "/utf16.db"), configuration: configuration, engine: engine))
    let encryption = Encryption(.key(Data(repeating: 7, count: 32)))
    try make(
      "encrypted", try Store(.file(folder + "/encrypted.db"), encryption: encryption),
      isPlain: false)
  }

  private func make(_ name: String, _ store: Store, isPlain: Bool = true) throws {
    try SampleStore.fill(store, isPlain: isPlain)
    let text = try SampleStore.description(of: store).jsonString(pretty: true)
    try (text + "\n").write(toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
    try store.close()
  }
}
