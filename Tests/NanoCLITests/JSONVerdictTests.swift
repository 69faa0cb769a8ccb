// SPDX-License-Identifier: MIT

import Foundation
import NanoCLI
import NanoStore
import NanoTestSupport
import Testing

@Suite("JSON conformance of imports")
struct ImportVerdictTests {
  private func failures(_ bytes: [UInt8]) -> (read: Int, failed: Int) {
    var splitter = RecordSplitter()
    bytes.withUnsafeBytes { splitter.append($0) }
    splitter.finish()
    let reader = RecordReader(key: nil, dialect: .extended)
    var writer = JSONWriter()
    var outcome = (read: 0, failed: 0)
    while let record = splitter.next() {
      switch reader.read(record, into: &writer) {
      case .success: outcome.read += 1
      case .failure: outcome.failed += 1
      }
    }
    return outcome
  }

  @Test("Each text is one document or an error, as the table specifies")
  func records() throws {
    for verdict in try JSONVerdict.all() {
      let outcome = failures(verdict.inObject)
      if verdict.isAccepted {
        #expect(outcome == (1, 0), "\(verdict)")
      } else {
        #expect(outcome.failed > 0, "\(verdict)")
      }
    }
  }

  @Test("An import stores every accepted text; one rejected text rolls back the import")
  func program() throws {
    let verdicts = try JSONVerdict.all()
    let runner = try CommandRunner()
    let good = verdicts.filter(\.isAccepted)
    let lines = Data(good.flatMap { $0.inObject + [UInt8(ascii: "\n")] })
    try lines.write(to: runner.folder.appending(path: "good.ndjson"))

    #expect(try runner.run("import", "v.db", "values", "good.ndjson").status == 0)
    #expect(try runner.run("count", "v.db", "values").output == "\(good.count)\n")
    for verdict in verdicts where !verdict.isAccepted && verdict.name.hasPrefix("i_") {
      try (lines + Data(verdict.inObject)).write(to: runner.folder.appending(path: "bad.ndjson"))
      let outcome = try runner.run("import", "v.db", "other", "bad.ndjson")
      #expect(outcome.status == 1, "\(verdict)")
      #expect(outcome.diagnostics.contains("nothing was imported"), "\(verdict)")
    }
    #expect(try runner.run("collections", "v.db").output.contains("other") == false)
    #expect(try runner.run("verify", "v.db").status == 0)
  }

  @Test("A byte order mark at the start of the file is skipped")
  func byteOrderMark() throws {
    let runner = try CommandRunner()
    try runner.write("bom.json", "\u{FEFF}[{\"a\":1}]")
    #expect(try runner.run("import", "v.db", "values", "bom.json").status == 0)
    #expect(try runner.run("count", "v.db", "values").output == "1\n")
  }
}
