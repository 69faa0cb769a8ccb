// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("ARCHITECTURE.md and CONTRIBUTING.md")
struct ArchitectureTests {
  private let paths: PackagePaths
  private let page: String
  private let targets: [ManifestTarget]

  init() throws {
    paths = try PackagePaths()
    page = try paths.text(of: "ARCHITECTURE.md")
    targets = ManifestTarget.all(in: try paths.text(of: "Package.swift"))
  }

  @Test(
    "Every Swift file that the page names exists",
    arguments: ["ARCHITECTURE.md", "CONTRIBUTING.md"])
  func files(page: String) throws {
    let names = try codeSpans(of: page).filter { $0.contains(".swift") }
    let missing = names.filter { !paths.hasSourceFile($0) }

    #expect(missing.sorted() == [])
    #expect(names.count > 50)
  }

  @Test(
    "Every folder that the page names exists", arguments: ["ARCHITECTURE.md", "CONTRIBUTING.md"])
  func folders(page: String) throws {
    let names = try codeSpans(of: page).filter { $0.hasSuffix("/") }
    let missing = names.filter { !paths.hasFolder(String($0.dropLast())) }

    #expect(missing.sorted() == [])
    #expect(!names.isEmpty)
  }

  @Test("The table of layers lists every target in Sources with its folder")
  func layers() throws {
    let rows = try section("Layers").matches(of: #/\n\| `([^`]+)/` \| (\w+) \|/#)
      .map { "\($0.2) in Sources/\($0.1)" }

    #expect(rows.sorted() == targets.map { "\($0.name) in \($0.path)" }.sorted())
    #expect(targets.map(\.path).sorted() == paths.targetFolders)
  }

  @Test("The diagram lists the dependencies that Package.swift declares")
  func dependencies() throws {
    let core = ["NanoDocument", "NanoQuery", "NanoEngine"]
    var shown: [String: Set<String>] = [:]
    for line in try section("Dependencies").matches(of: #/(\w+) +─► ([^\n]+)/#) {
      let names = line.2.split(separator: ", ").flatMap { $0 == "Core" ? core : [String($0)] }
      shown[String(line.1)] = Set(names)
    }

    let declared = targets.filter { !$0.dependencies.isEmpty }
      .map { ($0.name, $0.dependencies) }
    #expect(shown == Dictionary(uniqueKeysWithValues: declared))
  }

  /// The inline code of a page, outside of code blocks.
  private func codeSpans(of page: String) throws -> Set<String> {
    let parts = try paths.text(of: page).components(separatedBy: "\n```")
    // Each code block is between two texts.
    let texts = parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    return Set(texts.flatMap { text in text.matches(of: #/`([^`\n]+)`/#).map { String($0.1) } })
  }

  /// The text below a heading of ARCHITECTURE.md.
  private func section(_ heading: String) throws -> String {
    let sections = page.components(separatedBy: "\n## ")
    return try #require(sections.first { $0.hasPrefix("\(heading)\n") })
  }
}

/// A target that Package.swift declares in the folder Sources.
private struct ManifestTarget {
  let name: String
  let path: String
  /// Targets and packages.
  let dependencies: Set<String>

  static func all(in manifest: String) -> [ManifestTarget] {
    // Products, packages and targets are elements of arrays that begin at the same column.
    manifest.split(separator: #/\n    \.\w+\(/#).compactMap { ManifestTarget(String($0)) }
  }

  /// Nil if the declaration is not that of a target in Sources.
  private init?(_ declaration: String) {
    guard let name = declaration.firstMatch(of: #/name: "([^"]+)"/#),
      let path = declaration.firstMatch(of: #/path: "(Sources/[^"]+)"/#)
    else { return nil }
    self.name = String(name.1)
    self.path = String(path.1)
    let unconditional = declaration.replacing(
      #/, condition: \.when\(traits: \[[^\]]*\]\)/#, with: "")
    let list =
      unconditional.firstMatch(of: #/dependencies: \[([^\]]*)\]/#).map { String($0.1) } ?? ""
    let packages = list.matches(of: #/package: "([^"]+)"/#).map { String($0.1) }
    let targets = list.replacing(#/\.product\([^)]*\)/#, with: "")
      .matches(of: #/"([^"]+)"/#).map { String($0.1) }
    dependencies = Set(packages + targets)
  }
}

/// The files and folders of the package, relative to its folder.
private struct PackagePaths {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private var files: [String] = []
  private var folders: [String] = []

  init() throws { try add(below: "") }

  private mutating func add(below folder: String) throws {
    // Names that begin with a period are those of build folders, with sources of other packages.
    let names = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appending(path: folder).path
    ).filter { !$0.hasPrefix(".") }
    for name in names {
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      var isFolder: ObjCBool = false
      let exists = FileManager.default.fileExists(
        atPath: Self.root.appending(path: path).path, isDirectory: &isFolder)
      guard exists else { continue }
      if isFolder.boolValue {
        folders.append(path)
        try add(below: path)
      } else {
        files.append(path)
      }
    }
  }

  func text(of path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// Whether a file of sources or tests has this name, or a path that ends with it.
  func hasSourceFile(_ name: String) -> Bool {
    files.contains { path in
      ["Sources/", "Tests/", "Benchmarks/", "Fuzzing/"].contains { path.hasPrefix($0) }
        && path.hasSuffix("/\(name)")
    }
  }

  /// Whether a folder has this path, or one that ends with it.
  func hasFolder(_ name: String) -> Bool {
    folders.contains { $0 == name || $0.hasSuffix("/\(name)") }
  }

  /// The folders of targets in Sources, which are two levels below it.
  var targetFolders: [String] {
    let parts = files.map { $0.split(separator: "/") }
      .filter { $0.first == "Sources" && $0.count > 3 }
    return Set(parts.map { $0.prefix(3).joined(separator: "/") }).sorted()
  }
}
