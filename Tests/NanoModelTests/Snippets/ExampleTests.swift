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
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: document), encoding: .utf8)
    let mention = try #require(page.range(of: link))
    let shown = page[mention.upperBound...].components(separatedBy: "```\n")[1]

    let scratch = try Scratch()
    let output = try run(product, in: scratch.path)

    #expect(output == shown)
  }

  /// Returns the output of a program that was built with the tests.
  private func run(_ product: String, in folder: String) throws -> String {
    let process = Process()
    process.executableURL = Self.products.appending(path: product)
    process.currentDirectoryURL = URL(filePath: folder)
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
