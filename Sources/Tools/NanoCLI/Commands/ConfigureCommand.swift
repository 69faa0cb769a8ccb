// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ConfigureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "configure",
    abstract: "Create and configure collections from a JSON file.",
    discussion: """
      The file declares defaults, aliases and indexes. It is applied atomically, and applying it \
      again changes nothing. storePath and storeName in the file are ignored.
      """)

  @OptionGroup var database: DatabaseOptions

  @Argument(help: "The JSON file.", completion: .file())
  var setup: String

  @Flag(help: "Ignore unknown entries and entries of the wrong type, with a note for each.")
  var lenient = false

  func run() throws {
    let setup = try read()
    try database.withStore(.creating) { try $0.apply(StoreSetup(collections: setup.collections)) }
    try Output.run { output in
      for (name, collection) in setup.collections.sorted(by: { $0.key < $1.key }) {
        try output.line(TerminalText.text("\(name): \(Self.summary(collection))"))
      }
    }
  }

  private func read() throws -> StoreSetup {
    guard lenient else { return try StoreSetup(contentsOf: setup) }
    var ignored: [StoreError] = []
    let parsed = try StoreSetup(contentsOf: setup, ignored: &ignored)
    for problem in ignored {
      Diagnostics.print(
        TerminalText.text(
          "note: ignored \(problem[.field] ?? ""): expected \(problem[.expected] ?? "")"))
    }
    return parsed
  }

  private static func summary(_ setup: CollectionSetup) -> String {
    var parts: [String] = []
    func add(_ count: Int, _ singular: String, _ plural: String) {
      if count > 0 { parts.append("\(count) \(count == 1 ? singular : plural)") }
    }
    if let defaults = setup.defaults {
      defaults.isEmpty ? parts.append("no defaults") : add(defaults.count, "default", "defaults")
    }
    if let aliases = setup.aliases {
      aliases.isEmpty ? parts.append("no aliases") : add(aliases.count, "alias", "aliases")
    }
    add(setup.indexes.count, "index", "indexes")
    add(setup.uniqueIndexes.count, "unique index", "unique indexes")
    add(
      setup.textIndexes.count + setup.substringIndexes.count, "text index", "text indexes")
    if let rule = setup.expiration { parts.append(ExpireCommand.Rule.text(rule)) }
    add(setup.queryableFields.count, "queryable field", "queryable fields")
    return parts.isEmpty ? "no settings" : parts.joined(separator: ", ")
  }
}
