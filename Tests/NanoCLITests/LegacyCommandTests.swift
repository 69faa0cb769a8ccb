// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("nanostore inspect-legacy and import-legacy")
struct LegacyCommandTests {
  let command: CommandRunner

  init() throws { command = try CommandRunner() }

  private static func fixture(_ path: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../NanoLegacyTests/Fixtures/\(path)").standardizedFileURL.path
  }

  @Test("A file of NTJsonStore is inspected and imported")
  func ntJsonStore() throws {
    let old = Self.fixture("ntjsonstore/nt-small.db")
    let summary = try command.run("inspect-legacy", old)
    #expect(summary.lines.first == "NTJsonStore, version all")
    let outcome = try command.run("import-legacy", old, "new.db")
    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    #expect(outcome.lines.contains("people: imported 7 into people"))
    #expect(outcome.lines.last?.hasPrefix("imported 10 records and 1 named value in ") == true)
    #expect(try command.run("count", "new.db", "people").output == "7\n")
    #expect(try command.run("verify", "new.db").status == 0)
    // The progress bar is for terminals only.
    #expect(outcome.diagnostics.isEmpty)

    let again = try command.run("import-legacy", old, "new.db")
    #expect(again.status == 1)
    #expect(again.diagnostics.contains("--existing") == false)
    #expect(try command.run("import-legacy", old, "new.db", "--existing", "skip").status == 0)
    #expect(try command.run("import-legacy", old, "new.db", "--existing", "maybe").status == 64)
  }

  @Test("A folder of BNRPersistence is imported with a schema, and a wrong passphrase is an error")
  func bnrPersistence() throws {
    let old = Self.fixture("bnr/library.bnrtc")
    try command.write(
      "schema.json",
      #"{"classes":{"Song":{"fields":[{"name":"title","type":"text"},{"name":"seconds","type":"uint32"}]}}}"#
    )
    let outcome = try command.run(
      "import-legacy", old, "new.db", "--schema", "schema.json", "--json")
    #expect(outcome.status == 0, "\(outcome.diagnostics)")
    #expect(outcome.output.contains(#""rawData": 4"#))
    #expect(try command.run("count", "new.db", "Song").output == "8\n")

    try command.write(
      "schema.json", #"{"classes":{"Song":{"fields":[{"name":"title","type":"texts"}]}}}"#)
    let wrong = try command.run("import-legacy", old, "other.db", "--schema", "schema.json")
    #expect(wrong.status == 1)
    #expect(wrong.diagnostics.contains("classes.Song.fields[0].type"))
  }

  @Test("A file that is no old store creates no database")
  func rejection() throws {
    try command.write("text", "hello")
    let outcome = try command.run("import-legacy", "text", "new.db")
    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.contains("not a"))
    #expect(!FileManager.default.fileExists(atPath: command.folder.appending(path: "new.db").path))
    #expect(try command.run("import-legacy", "missing", "new.db").status == 1)
    #expect(
      try command.run("import-legacy", "text", "new.db", "--time-zone", "Mars").status == 64)
  }

  @Test(
    "A folder of BNRPersistence without read permission is reported as such",
    .enabled(if: LegacyCommandTests.canRunAsOtherUser()))
  func permission() throws {
    let reader = "\(Self.asOtherUser) inspect-legacy old"
    let library = Self.fixture("bnr/library.bnrtc")
    try command.shell("\(Self.copyTool); cp -r '\(library)' old; chmod 755 old")

    let files = try command.shell("chmod 600 old/*; \(reader)")
    let folder = try command.shell("chmod 700 old; \(reader)")

    #expect(files.status == 1)
    #expect(files.diagnostics.contains("The file cannot be opened"))
    #expect(folder.status == 1)
    #expect(folder.diagnostics.contains("The folder cannot be read"))
  }

  /// Permissions do not apply to root.
  private static let asOtherUser =
    "setpriv --reuid=65534 --regid=65534 --clear-groups ./nanostore"
  /// The other user may not access the folder of the build.
  private static let copyTool = "cp $N nanostore; chmod 755 . nanostore"

  private static func canRunAsOtherUser() -> Bool {
    guard getuid() == 0, let command = try? CommandRunner() else { return false }
    return (try? command.shell("\(copyTool); \(asOtherUser) --version"))?.status == 0
  }
}
