// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Create, list, drop, rebuild, recommend and export indexes.",
    discussion: """
      Without a subcommand, creates an index: nanostore index library.db films year title:desc \
      --unique is short for nanostore index create with the same arguments.
      """,
    subcommands: [
      Create.self, Text.self, List.self, Drop.self, Advise.self, Export.self,
      IndexPolicyCommand.self,
      IndexRebuildCommand.self,
    ], defaultSubcommand: Create.self)

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Create an index; does nothing if it already exists.",
      discussion: """
        An index on a single field that contains arrays has an entry for each element, unless \
        --whole-values is specified.
        """)

    @OptionGroup var target: CollectionOptions

    @Argument(
      help: ArgumentHelp("The fields, most important first.", valueName: "field[:desc]"))
    var fields: [String]

    @Flag(help: "Reject documents with duplicate values.")
    var unique = false

    @Flag(help: "Index each array element, even if no document contains an array yet.")
    var elements = false

    @Flag(help: "Index arrays as whole values instead of their elements.")
    var wholeValues = false

    @Option(help: "The name of the index; derived from the fields if omitted.")
    var name: String?

    @Flag(help: "Let others write while the index is built, which takes longer.")
    var concurrently = false

    func validate() throws {
      guard !elements || !wholeValues else {
        throw ValidationError("--elements and --whole-values cannot be combined")
      }
    }

    func run() throws {
      let index = try target.withExistingCollection { collection in
        do {
          return try create(on: collection)
        } catch let error as StoreError where error.code == .uniqueViolation {
          let groups = fields.map { "--group \(SortField($0).field)" }.joined(separator: " ")
          throw error.adding(
            .hint, "nanostore aggregate \(groups) --count --sort count:desc lists the duplicates")
        }
      }
      try Output.run { output in
        let kind =
          switch index.kind {
          case .fields: ""
          case .elements: " (array elements)"
          }
        try output.line(
          TerminalText.text("created index \(index.name) on \(target.collection)\(kind)"))
      }
    }

    private func create(on collection: DocumentCollection) throws -> IndexDefinition {
      let paths = fields.map { text in
        let field = SortField(text)
        guard !field.descending else { return "-\(field.field)" }
        return Self.unsigned(field.field)
      }
      return try collection.createIndex(
        paths: paths, unique: unique, elements: elements ? true : wholeValues ? false : nil,
        name: name, concurrently: concurrently)
    }

    /// Quotes a name that begins with a hyphen, which would mean a descending order.
    private static func unsigned(_ path: String) -> String {
      guard path.utf8.first == UInt8(ascii: "-") else { return path }
      let end = path.utf8.firstIndex(of: UInt8(ascii: ".")) ?? path.endIndex
      let name = String(path[..<end]).quoted(with: "\"")
      return "\(name)\(path[end...])"
    }
  }

  struct Drop: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "drop", abstract: "Drop an index.")

    @OptionGroup var target: CollectionOptions

    @Argument(help: "The name of the index, as printed by index list.")
    var index: String

    func run() throws {
      try target.withExistingCollection { collection in
        guard try collection.dropIndex(index) else {
          let all =
            try collection.indexes().map(\.name) + collection.fullTextIndexes().map(\.name)
          let names = all.joined(separator: ", ")
          throw CommandFailure(
            message: TerminalText.text(
              "Collection '\(collection.name)' has no index '\(index)'; "
                + "existing indexes: \(names.isEmpty ? "none" : names)"))
        }
      }
      try Output.run { try $0.line(TerminalText.text("dropped index \(index)")) }
    }
  }
}
