// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Make, list, drop, rebuild, advise on and export indexes.",
    discussion: """
      nanostore index library.db films year title:desc --unique is short for nanostore index \
      create with the same arguments.
      """,
    subcommands: [
      Create.self, Text.self, List.self, Drop.self, Advise.self, Export.self,
      IndexPolicyCommand.self,
      IndexRebuildCommand.self,
    ], defaultSubcommand: Create.self)

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Make an index; nothing happens if the same one is there.",
      discussion: """
        An index on one field that holds lists has an entry for each element, unless \
        --whole-values is given.
        """)

    @OptionGroup var place: CollectionOptions

    @Argument(
      help: ArgumentHelp("The fields, most important first.", valueName: "field[:desc]"))
    var fields: [String]

    @Flag(help: "No two documents may have the same values.")
    var unique = false

    @Flag(help: "Index each element of a list, also if no document holds one yet.")
    var elements = false

    @Flag(help: "Index lists as they are, not their elements.")
    var wholeValues = false

    @Option(help: "The name of the index; made from the fields if missing.")
    var name: String?

    func validate() throws {
      guard !elements || !wholeValues else {
        throw ValidationError("--elements and --whole-values exclude each other.")
      }
    }

    func run() throws {
      let index = try place.withExistingCollection { collection in
        do {
          return try create(on: collection)
        } catch let error as StoreError where error.code == .uniqueViolation {
          let groups = fields.map { "--group \(SortField($0).field)" }.joined(separator: " ")
          throw error.adding(
            .hint, "nanostore aggregate \(groups) --count --sort count:desc shows which")
        }
      }
      try Output.run { output in
        let kind = index.kind == .elements ? " of the elements of lists" : ""
        try output.line(TerminalText.text("made index \(index.name) on \(place.collection)\(kind)"))
      }
    }

    private func create(on collection: DocumentCollection) throws -> IndexDefinition {
      let paths = fields.map { text in
        let field = SortField(text)
        return field.descending ? "-\(field.field)" : field.field
      }
      return try collection.createIndex(
        paths: paths, unique: unique, elements: elements ? true : wholeValues ? false : nil,
        name: name)
    }
  }

  struct Drop: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "drop", abstract: "Drop an index by its name.")

    @OptionGroup var place: CollectionOptions

    @Argument(help: "The name of the index, as index list shows it.")
    var index: String

    func run() throws {
      try place.withExistingCollection { collection in
        guard try collection.dropIndex(index) else {
          let all =
            try collection.indexes().map(\.name) + collection.textIndexes().map(\.name)
          let names = all.joined(separator: ", ")
          throw CommandFailure(
            message: TerminalText.text(
              "There is no index \(index) on \(collection.name); "
                + "there are: \(names.isEmpty ? "none" : names)"))
        }
      }
      try Output.run { try $0.line(TerminalText.text("dropped index \(index)")) }
    }
  }
}
