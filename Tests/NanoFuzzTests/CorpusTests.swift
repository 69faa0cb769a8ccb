// SPDX-License-Identifier: MIT

import Foundation
import NanoFuzzTargets
import Testing

@Suite("Fuzzing corpus")
struct CorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fuzzing").standardizedFileURL

  @Test("Every input of the corpus and every former finding passes", arguments: FuzzTarget.all)
  func corpus(target: FuzzTarget) throws {
    for folder in ["Corpus", "Seeds"] {
      let file = Self.folder.appending(path: "\(folder)/\(target.name).ndjson")
      let inputs = try FuzzCorpus.inputs(in: file)
      #expect(!inputs.isEmpty)
      for (number, input) in inputs.enumerated() {
        do {
          try input.withUnsafeBytes { try target.run($0) }
        } catch {
          Issue.record("line \(number + 1) of \(folder)/\(target.name).ndjson: \(error)")
        }
      }
    }
  }

  @Test("Inputs written to a file read back as the same bytes")
  func file() throws {
    let inputs: [[UInt8]] = [[], Array(0...255), Array("a\nb\"\\é".utf8)]
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }

    let text = try FuzzCorpus.text(inputs)
    try Data(text.utf8).write(to: file)

    #expect(try FuzzCorpus.inputs(in: file) == inputs)
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
  }
}
