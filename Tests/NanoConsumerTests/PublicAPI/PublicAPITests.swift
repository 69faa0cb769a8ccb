// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Compares the public declarations of each product with the list in the folder `API`, so that none is added,
/// changed or removed by accident. `make api` writes the lists.
@Suite("The public API", .enabled(if: ConsumerCompiler.isAvailable))
struct PublicAPITests {
  struct Product: Sendable, CustomTestStringConvertible {
    let name: String
    /// The modules that it adds to those of the products it builds on.
    let modules: [String]
    var testDescription: String { name }
  }

  static let products = [
    Product(
      name: "NanoStore",
      modules: [
        "NanoDocument", "NanoQuery", "NanoEngine", "NanoStoreCore", "NanoBags", "NanoCopying",
        "NanoSQLite", "NanoStore",
      ]),
    Product(name: "NanoStoreModels", modules: ["NanoModel", "NanoGraph", "NanoStoreModels"]),
    Product(name: "NanoStoreEncryption", modules: ["NanoEncryption", "NanoStoreEncryption"]),
    Product(name: "NanoStoreLegacy", modules: ["NanoLegacy", "NanoStoreLegacy"]),
    Product(name: "NanoStorePostgres", modules: ["NanoPostgres", "NanoStorePostgres"]),
    Product(name: "NanoStoreSync", modules: ["NanoSync", "NanoStoreSync"]),
    Product(name: "NanoStoreServer", modules: ["NanoStoreServer"]),
  ]

  @Test("Each product declares what its list says, all of it documented", arguments: products)
  func declarations(of product: Product) throws {
    let symbols = try product.modules.flatMap(SymbolGraph.symbols)
    let lines = Set(symbols.map(\.line)).sorted()
    let file = ConsumerCompiler.root.appending(path: "API/\(product.name).txt")
    if ProcessInfo.processInfo.environment["NANOSTORE_WRITE_API"] != nil {
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
    }
    let listed = try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n").map(String.init)
    let added = Set(lines).subtracting(listed).sorted()
    let removed = Set(listed).subtracting(lines).sorted()
    #expect(added == [], "public, and not in \(file.lastPathComponent); run make api if intended")
    #expect(removed == [], "in \(file.lastPathComponent), and not public; run make api if intended")
    let undocumented = symbols.filter { $0.docComment == nil && !$0.isSynthesized }
    #expect(Set(undocumented.map(\.line)).sorted() == [], "without a doc comment")
  }
}
