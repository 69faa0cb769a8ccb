// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("File permissions and file handling", .timeLimit(.minutes(10)))
struct FileAccessTests {
  private let command: CommandRunner

  init() throws { command = try CommandRunner().withFilms() }

  private func names(of folder: String = ".") throws -> [String] {
    try command.shell("ls -A \(folder)").lines
      .filter { !["films.ndjson", "stdin", "stdout", "stderr", "out", "nanostore"].contains($0) }
  }

  @Test("Read-only commands leave no files next to the database")
  func readingLeavesNothing() throws {
    for line in [
      "find library.db films", "count library.db films", "collections library.db",
      "verify library.db", "stats library.db", "schema library.db films",
      "export library.db films", "watch library.db films --count 1",
    ] {
      let outcome = try command.shell("$N \(line)")

      #expect(outcome.status == 0, "\(line): \(outcome.diagnostics)")
      #expect(try names() == ["library.db"], "\(line)")
    }
  }

  @Test("A signal ends watch with the conventional exit status and leaves no extra files")
  func signals() throws {
    let outcome = try command.shell(
      """
      $N watch library.db films >out & until [ -s out ]; do sleep 0.05; done
      kill -TERM $!; wait $!; echo $?
      """)

    #expect(outcome.lines == ["143"], "\(outcome.diagnostics)")
    #expect(try names() == ["library.db"])
  }

  @Test("A signal ends export with the conventional exit status and removes its unfinished file")
  func exportSignal() throws {
    let text = String(repeating: "long ", count: 100)
    try command.write(
      "in.json", (0..<20_000).map { "{\"n\":\($0),\"t\":\"\(text)\"}\n" }.joined())
    try command.run("import", "library.db", "c", "in.json")
    try FileManager.default.removeItem(atPath: command.folder.appending(path: "in.json").path)

    let outcome = try command.shell(
      """
      $N export library.db c --output saved & until ls | grep -q saved; do sleep 0.01; done
      kill -TERM $!; wait $!; echo $?
      """)

    #expect(outcome.lines.last == "143", "\(outcome.lines) \(outcome.diagnostics)")
    #expect(try names() == ["library.db"])
  }

  @Test("watch continues when a terminal closes, if nohup has started it")
  func nohup() throws {
    let outcome = try command.shell(
      """
      nohup $N watch library.db films >out & until [ -s out ]; do sleep 0.05; done
      kill -HUP $!; $N put library.db films Caravaggio '{"year":1986}'
      until grep -q Caravaggio out; do kill -0 $! || break; sleep 0.05; done
      kill -TERM $!; wait $!; echo $?
      """)

    #expect(outcome.lines.last == "143", "\(outcome.diagnostics)")
    #expect(try command.read("out").contains("Caravaggio"))
  }

  @Test(
    "watch exits with an error when its file is deleted or replaced", arguments: ["rm", "mv"])
  func replacedFile(by program: String) throws {
    try command.shell("$N backup library.db other.db")
    let replacing = program == "rm" ? "rm library.db" : "cp other.db new.db; mv new.db library.db"

    let outcome = try command.shell(
      """
      $N watch library.db films >out & until [ -s out ]; do sleep 0.05; done
      \(replacing); wait $!
      """)

    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.contains("deleted, moved, or replaced"))
  }

  @Test("A failed first write leaves no file")
  func failedFirstWrite() throws {
    #expect(try command.run("put", "new.db", "c", "", "{}").status == 1)
    #expect(try command.run("import", "new.db", "c", "-", input: #"{"a":"#).status == 1)
    #expect(try command.run("put", "new.db", "nano_c", "k", "{}").status == 1)
    #expect(try names() == ["library.db"])

    #expect(try command.run("put", "library.db", "c", "", "{}").status == 1)
    #expect(try command.run("count", "library.db", "films").output == "3\n")
  }

  @Test("Arguments that are not UTF-8 are rejected, and no differently named file is created")
  func argumentsAsBytes() throws {
    let outcome = try command.shell(#"$N put "$(printf 'x\377.db')" c k '{}'"#)

    #expect(outcome.status == 64)
    #expect(outcome.diagnostics.contains(#"x\xff.db"#))
    #expect(try names() == ["library.db"])
  }

  @Test("A relative path in a folder whose name is not UTF-8 is rejected")
  func folderAsBytes() throws {
    let outcome = try command.shell(
      #"d="$(printf 'y\377')"; mkdir "$d"; cd "$d"; $N put x.db c k '{}'; s=$?; ls -A; exit $s"#)

    #expect(outcome.status == 1)
    #expect(outcome.lines.isEmpty)
    #expect(outcome.diagnostics.contains("not UTF-8"))
  }

  @Test("Running out of file descriptors is an error", arguments: 5...12)
  func fewDescriptors(limit: Int) throws {
    let outcome = try command.shell("ulimit -n \(limit); $N watch library.db films --count 1")

    #expect([0, 1].contains(outcome.status), "\(outcome.diagnostics)")
    if outcome.status == 1 { #expect(outcome.diagnostics.hasPrefix("error: ")) }
  }

  @Test("An empty file is reported as not containing a store")
  func emptyFile() throws {
    try command.write("empty.db", "")

    let outcome = try command.run("find", "empty.db", "films")

    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.contains("The file is empty and contains no store"))
  }
}

/// Tests a user with read permission only. The owner is root here.
@Suite("Read-only users", .enabled(if: getuid() == 0), .timeLimit(.minutes(10)))
struct ReaderRightsTests {
  private let command: CommandRunner
  /// Runs a copy of the binary that another user can access.
  private static let reader = "setpriv --reuid=65534 --regid=65534 --clear-groups ./nanostore"

  init() throws {
    command = try CommandRunner().withFilms()
    try command.shell("cp $N nanostore; chmod 755 . nanostore; chmod 644 library.db")
  }

  @Test("A reader is rejected with a hint while no other process has the file open")
  func rejected() throws {
    let outcome = try command.shell("\(Self.reader) find library.db films")

    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.diagnostics.contains("write-ahead log"))
    #expect(outcome.diagnostics.contains("immutable"))
    #expect(!command.exists("library.db-wal"))
  }

  @Test(
    "A reader with write permission only for the folder does not create a log that the owner cannot use"
  )
  func writableFolder() throws {
    let outcome = try command.shell("chmod 777 .; \(Self.reader) find library.db films")

    #expect(outcome.status == 1)
    #expect(!command.exists("library.db-wal"))
  }

  @Test("--immutable reads a file that no other process has open")
  func immutable() throws {
    let outcome = try command.shell("\(Self.reader) count library.db films --immutable")

    #expect(outcome.lines == ["3"], "\(outcome.diagnostics)")
    #expect(!command.exists("library.db-wal"))
  }

  @Test(
    "--immutable is rejected for commands that write, and if the write-ahead log holds transactions"
  )
  func immutableRefused() throws {
    #expect(try command.run("put", "library.db", "films", "x", "{}", "--immutable").status == 64)

    let outcome = try command.shell(
      """
      $N watch library.db films >out & until [ -s out ]; do sleep 0.05; done
      $N put library.db films Dune '{"title":"Dune"}' >&2
      \(Self.reader) count library.db films --immutable; s=$?
      kill $!; exit $s
      """)

    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.contains("transactions that an immutable open would not see"))
  }

  @Test("A reader sees every commit while the owner has the file open")
  func ownerHasItOpen() throws {
    let outcome = try command.shell(
      """
      $N watch library.db films >out & until [ -s out ]; do sleep 0.05; done; owner=$!
      \(Self.reader) watch library.db films --count 5 >seen & reader=$!
      until [ "$(wc -l <seen)" -ge 3 ]; do sleep 0.05; done
      $N put library.db films Dune '{"title":"Dune"}' >&2
      \(Self.reader) count library.db films
      until [ "$(wc -l <seen)" -ge 4 ]; do sleep 0.05; done
      $N delete library.db films --all >&2; $N compact library.db >&2
      wait $reader; \(Self.reader) count library.db films; kill $owner
      """)

    #expect(outcome.lines == ["4", "0"], "\(outcome.diagnostics)")
    #expect(try command.read("seen").contains(#""change":"inserted""#))
  }

  @Test(
    "A reader keeps its snapshot while the owner replaces documents and compacts")
  func snapshot() throws {
    let lines = (0..<5_000).map {
      #"{"v":0,"n":\#($0),"pad":"\#(String(repeating: "x", count: 100))"}"#
    }
    try command.write("in", lines.joined(separator: "\n"))
    let outcome = try command.shell(
      """
      $N import library.db c in >&2
      $N watch library.db films >out & until [ -s out ]; do sleep 0.05; done; owner=$!
      \(Self.reader) find library.db c --ndjson | (read l; echo 1 >begun; sleep 2; wc -l) & reader=$!
      until [ -s begun ]; do sleep 0.05; done; $N delete library.db c --all >&2; $N compact library.db >&2
      wait $reader; kill $owner
      """)

    #expect(
      outcome.lines.first?.trimmingCharacters(in: .whitespaces) == "4999", "\(outcome.diagnostics)")
  }

  @Test("A folder without search permission is named as the cause")
  func closedFolder() throws {
    let outcome = try command.shell(
      "mkdir -m 700 closed; cp library.db closed/x.db; \(Self.reader) count closed/x.db films")

    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.contains("Permission denied"))
  }
}
