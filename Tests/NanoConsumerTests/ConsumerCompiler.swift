// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Type-checks programs as an app that depends on the products would compile them: in a separate package that sees
/// only the public declarations of the imported modules.
struct ConsumerCompiler {
  /// A compiler feature that an app can enable.
  enum Feature: String, CaseIterable {
    case memberImportVisibility = "MemberImportVisibility"
    case internalImportsByDefault = "InternalImportsByDefault"
    case existentialAny = "ExistentialAny"
    case nonisolatedNonsendingByDefault = "NonisolatedNonsendingByDefault"
    case mainActorByDefault

    var arguments: [String] {
      switch self {
      case .mainActorByDefault: ["-default-isolation", "MainActor"]
      default: ["-enable-upcoming-feature", rawValue]
      }
    }
  }

  struct Outcome {
    let succeeded: Bool
    let diagnostics: String
    /// The first lines of the diagnostics in the user's file.
    var messages: [String] {
      diagnostics.split(separator: "\n").map(String.init).filter {
        $0.contains(": error: ") || $0.contains(": warning: ")
      }
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  /// The folder into which this build put modules and the macro plug-in.
  private static let products: URL = {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
    // The bundle is a folder on Apple platforms, and a file in this folder elsewhere.
    let modules = bundle.bundleURL.appending(path: "Modules").path
    return FileManager.default.fileExists(atPath: modules)
      ? bundle.bundleURL : bundle.bundleURL.deletingLastPathComponent()
  }()
  private static var checkouts: URL { root.appending(path: ".build/checkouts") }

  /// False for builds by other tools, such as Xcode, which put their products elsewhere.
  static var isAvailable: Bool {
    FileManager.default.fileExists(
      atPath: products.appending(path: "Modules/NanoStore.swiftmodule").path)
      && FileManager.default.fileExists(atPath: checkouts.path)
  }

  static func check(_ files: [URL], features: [Feature] = []) throws -> Outcome {
    try run(arguments(features) + files.map(\.path))
  }

  private static func run(_ arguments: [String]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let output = FileManager.default.temporaryDirectory.appending(
      path: "nanostore-consumer-\(UUID().uuidString)")
    try Data().write(to: output)
    defer { try? FileManager.default.removeItem(at: output) }
    let handle = try FileHandle(forWritingTo: output)
    (process.standardOutput, process.standardError) = (handle, handle)
    try process.run()
    process.waitUntilExit()
    return Outcome(
      succeeded: process.terminationStatus == 0,
      diagnostics: try String(contentsOf: output, encoding: .utf8))
  }

  /// Checks a program of one source text.
  static func check(_ text: String, features: [Feature] = []) throws -> Outcome {
    try check([text], features: features)
  }

  /// Checks a program of several source texts.
  static func check(_ texts: [String], features: [Feature] = []) throws -> Outcome {
    try withFiles(texts) { try check($0, features: features) }
  }

  /// Checks the syntax of a source text, whose modules need not exist.
  static func parse(_ text: String) throws -> Outcome {
    try withFiles([text]) { try run(["swiftc", "-frontend", "-parse"] + $0.map(\.path)) }
  }

  private static func withFiles(
    _ texts: [String], _ work: ([URL]) throws -> Outcome
  ) throws -> Outcome {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "nanostore-consumer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try texts.enumerated().map { number, text in
      let file = folder.appending(path: "Program\(number).swift")
      try Data(text.utf8).write(to: file)
      return file
    }
    return try work(files)
  }

  private static func arguments(_ features: [Feature]) -> [String] {
    let arguments = [
      // Checking types alone would not find values that are used by two threads.
      "swiftc", "-emit-sil", "-wmo", "-o", "/dev/null", "-swift-version", "6", "-parse-as-library",
      "-module-name",
      "Consumer",
      // Prints each diagnostic on one line, with the location that Xcode shows.
      "-diagnostic-style", "llvm",
      "-load-plugin-executable",
      products.appending(path: "NanoMacros-tool").path + "#NanoMacros",
    ]
    return arguments + searchPaths + features.flatMap(\.arguments)
  }

  /// Where the compiler finds the modules, and the C modules that they import.
  static var searchPaths: [String] {
    let packages = [
      "GRDB.swift/Sources/GRDBSQLite", "swift-atomics/Sources/_AtomicsShims/include",
      "swift-nio/Sources/CNIOWindows/include", "swift-nio-ssl/Sources/CNIOBoringSSL/include",
      "swift-numerics/Sources/_NumericsShims/include",
      "swift-system/Sources/CSystem/include",
    ]
    let cryptography = ["CXKCP", "CXKCPShims", "CCryptoBoringSSL", "CCryptoBoringSSLShims"]
    // Where the package manager writes the module maps of C targets.
    let generated =
      (try? FileManager.default.contentsOfDirectory(
        at: products, includingPropertiesForKeys: nil)) ?? []
    let includes =
      packages.map { checkouts.appending(path: $0) }
      + cryptography.map { checkouts.appending(path: "swift-crypto/Sources/\($0)/include") }
      + generated.filter { folder in
        FileManager.default.fileExists(atPath: folder.appending(path: "module.modulemap").path)
      }
      + [
        root.appending(path: "Sources/Engines/CLibPQ"),
        root.appending(path: "Sources/Engines/CSQLiteSettings"),
        root.appending(path: "Sources/Sync/CZlib"),
        URL(filePath: "/usr/include/postgresql"),
      ]
    return ([products.appending(path: "Modules")] + includes).flatMap { ["-I", $0.path] }
  }
}
