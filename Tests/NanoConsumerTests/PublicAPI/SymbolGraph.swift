// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// The public declarations of a module as the compiler exports them
/// (https://github.com/swiftlang/swift-docc-symbolkit).
struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Fragment: Decodable { let spelling: String }
    struct Identifier: Decodable { let precise: String }
    struct Comment: Decodable {}

    let identifier: Identifier
    let pathComponents: [String]
    let declarationFragments: [Fragment]
    let docComment: Comment?

    /// The enclosing types and the declaration, in one line.
    var line: String {
      let declaration = declarationFragments.map(\.spelling).joined()
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return (pathComponents.dropLast() + [declaration]).joined(separator: " ▸ ")
    }

    /// Whether the compiler writes the declaration, as it does for enums with raw values.
    var isSynthesized: Bool { pathComponents.last == "init(rawValue:)" }
  }

  let symbols: [Symbol]

  /// The symbols that a module declares, those in extensions of other modules' types included.
  static func symbols(of module: String) throws -> [Symbol] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "nanostore-symbols-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "swift", "symbolgraph-extract", "-module-name", module, "-target", Self.target,
        "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir",
        folder.path,
      ] + ConsumerCompiler.searchPaths
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "no symbol graph of \(module)")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return try files.flatMap {
      try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0)).symbols
    }
  }

  private static var target: String {
    #if arch(arm64)
      let processor = "aarch64"
    #else
      let processor = "x86_64"
    #endif
    #if os(macOS)
      return (processor == "aarch64" ? "arm64" : processor) + "-apple-macosx15.0"
    #else
      return processor + "-unknown-linux-gnu"
    #endif
  }
}
