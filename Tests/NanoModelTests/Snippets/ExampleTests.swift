// SPDX-License-Identifier: MIT

import Foundation
import NanoTestSupport
import Testing

@Suite("Examples")
struct ExampleTests {
  @Test(
    "An example prints the output that its page shows",
    arguments: [
      ("README.md", "[Examples/QuickStart](Examples/QuickStart)", "example-quickstart"),
      ("Examples/README.md", "[Models](Models)", "example-models"),
      ("Examples/README.md", "[Objects](Objects)", "example-objects"),
    ])
  func output(document: String, link: String, product: String) throws {
    let shown = try output(after: link, in: document)

    let scratch = try Scratch()
    let output = try run(product, in: scratch.path)

    #expect(output == shown)
  }

  @Test("The live example draws what another process writes, until the end of its input")
  func live() async throws {
    let scratch = try Scratch()
    let shown = try output(after: "[Live](Live)", in: "Examples/README.md")
    let screen = process("example-live", ["music.db"], in: scratch.path)
    let input = Pipe()
    let output = try FileHandle(forWritingTo: URL(filePath: scratch.write([], "screen")))
    (screen.standardInput, screen.standardOutput) = (input, output)
    try screen.run()
    defer { screen.terminate() }
    func screens() throws -> [String] {
      String(decoding: try scratch.bytes("screen"), as: UTF8.self).components(separatedBy: "\n\n")
        .dropLast().map { $0 + "\n" }
    }
    func wait(for expected: String) async throws {
      // Limited by attempts: on a busy machine, minutes may pass between two of them.
      for _ in 0..<40_000 where try screens().last != expected {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    try await wait(for: "0 songs, 0:00\n")

    #expect(try run("example-live", ["music.db", "--write", "5"], in: scratch.path) == "")
    try await wait(for: shown)
    try input.fileHandleForWriting.close()
    screen.waitUntilExit()

    #expect(screen.terminationStatus == 0)
    #expect(try screens().first == "0 songs, 0:00\n")
    #expect(try screens().last == shown)
    let once = try run("example-live", ["music.db", "--redraws", "1"], in: scratch.path)
    #expect(once == shown + "\n")
  }

  /// Returns the output that a page shows after a link.
  private func output(after link: String, in document: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: document), encoding: .utf8)
    let mention = try #require(page.range(of: link))
    return page[mention.upperBound...].components(separatedBy: "```\n")[1]
  }

  /// Returns a program that was built with the tests.
  private func process(_ product: String, _ arguments: [String], in folder: String) -> Process {
    let process = Process()
    process.executableURL = Self.products.appending(path: product)
    process.arguments = arguments
    process.currentDirectoryURL = URL(filePath: folder)
    return process
  }

  /// Returns the output of a program that was built with the tests.
  private func run(
    _ product: String, _ arguments: [String] = [], in folder: String
  ) throws -> String {
    let process = process(product, arguments, in: folder)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let written = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: written, as: UTF8.self)
  }

  /// The folder of the built tests and examples.
  private static var products: URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    let program = bundle ?? CommandLine.arguments[0]
    return URL(filePath: program).standardizedFileURL.deletingLastPathComponent()
  }
}
