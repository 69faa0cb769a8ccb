// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NanoInspector

@Suite("The pages of the inspector")
struct PageFilesTests {
  private let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Server/NanoInspector/Pages")

  @Test("Every file of the folder is embedded, and together they are below 300 KB")
  func embedded() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names) == Set(PageFiles.all.keys))
    var size = 0
    for name in names {
      let file = try #require(PageFiles.file(name, in: nil))
      #expect(try Data(contentsOf: folder.appending(path: name)) == Data(file.bytes), "\(name)")
      size += file.bytes.count
    }
    #expect(size < 300_000)
  }

  @Test("No file but the embedded ones is served, from a folder neither")
  func names() {
    for name in ["../Inspector.swift", "", ".", "..", "/etc/passwd", "index.html/", "INDEX.HTML"] {
      #expect(PageFiles.file(name, in: nil) == nil)
      #expect(PageFiles.file(name, in: folder) == nil)
    }
  }

  @Test("No script makes markup or code of text, and nothing refers to another host")
  func sources() throws {
    for (name, bytes) in PageFiles.all {
      let text = String(decoding: bytes(), as: UTF8.self)
      for forbidden in [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
        "srcdoc", "setAttribute(\"style\"", "createContextualFragment", "DOMParser",
      ] {
        #expect(!text.contains(forbidden), "\(name) contains \(forbidden)")
      }
      let addresses = text.matches(of: #/https?:\/\/[^"'\s)]+/#).map { String($0.0) }
      #expect(addresses.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(name): \(addresses)")
      if name.hasSuffix(".html") {
        #expect(text.firstMatch(of: #/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/#) == nil)
      }
    }
  }
}
