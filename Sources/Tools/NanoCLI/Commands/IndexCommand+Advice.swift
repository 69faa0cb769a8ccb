// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

extension IndexCommand {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List indexes with their origin, number of uses and reason.")

    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The collection; all collections if omitted.")
    var collection: String?
    @OptionGroup var format: FormatOptions

    private static let columns = ["index", "fields", "unique", "of", "origin", "uses", "reason"]

    func run() throws {
      try database.withStore(.reading) { store in
        if let collection { try CollectionOptions.noteMissing(collection, in: store) }
        try Output.run { output in
          let names = try collection.map { [$0] } ?? store.collections().map(\.name)
          let rows = format.rows(
            (collection == nil ? ["collection"] : []) + Self.columns, to: output)
          try rows.begin()
          for name in names {
            for row in try Self.rows(of: store[name]) {
              try rows.add((collection == nil ? [.string(name)] : []) + row)
            }
          }
          try rows.finish()
        }
      }
    }

    private static func rows(of collection: DocumentCollection) throws -> [[DocumentValue?]] {
      let uses = try collection.store.exactIndexUses(in: collection.name)
      var rows: [[DocumentValue?]] = try collection.indexes().map { index in
        [
          .string(index.name), .string(index.fieldList), .bool(index.isUnique),
          .string(index.kind.indexedValues), .string(index.origin.rawValue),
          uses[ExactName(index.name)].map { .int(Int64($0)) }, index.reason.map { .string($0) },
        ]
      }
      rows += try collection.fullTextIndexes().map { index in
        let fields = index.fields.map(\.description).joined(separator: ", ")
        return [
          .string(index.name), .string(fields), .bool(false), .string(index.tokens.rawValue),
          "declared", nil, nil,
        ]
      }
      return rows
    }
  }

  struct Advise: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "advise",
      abstract: "Show indexes recommended for the queries that programs have executed.",
      discussion: """
        --apply creates and drops the indexes that are due. A program that opens the store with \
        indexTuning .automatic, the default, does so automatically.
        """)

    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The collection; all collections if omitted.")
    var collection: String?
    @OptionGroup var format: FormatOptions

    @Flag(help: "Create and drop the indexes that are due, in all collections.")
    var apply = false

    func validate() throws {
      guard !apply || collection == nil else {
        throw ValidationError("--apply covers all collections; omit the collection")
      }
    }

    func run() throws {
      guard !apply else { return try applyAdvice() }
      try database.withStore(.reading) { store in
        if let collection { try CollectionOptions.noteMissing(collection, in: store) }
        let advice = try store.indexAdvice().filter {
          $0.collection.folded == (collection ?? $0.collection).folded
        }
        try Output.run { output in
          let rows = format.rows(
            ["collection", "fields", "of", "action", "due", "reason"], to: output)
          try rows.begin()
          for item in advice {
            try rows.add([
              .string(item.collection), .string(item.index.fieldList),
              .string(item.index.kind.indexedValues),
              .string(item.action.rawValue), .bool(item.isDue), .string(item.reason),
            ])
          }
          try rows.finish()
        }
      }
    }

    private func applyAdvice() throws {
      try database.withStore(.changing) { store in
        let drops = try store.indexAdvice().filter { $0.action == .drop }
        let created = try store.applyIndexAdvice()
        try Output.run { output in
          for index in created { try output.line(TerminalText.text("created index \(index.name)")) }
          for item in drops {
            try output.line(
              TerminalText.text("dropped index \(item.index.name) on \(item.collection)"))
          }
          if created.isEmpty && drops.isEmpty { try output.line("no changes are due") }
        }
      }
    }
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Print the indexes of all collections as JSON declarations.",
      discussion: """
        For example: {"people":{"indexes":["[last], [first] DESC"],"uniqueIndexes":[]}}. Adaptive \
        indexes are included.
        """)

    @OptionGroup var database: DatabaseOptions

    func run() throws {
      try database.withStore(.reading) { store in
        var all = DocumentObject()
        for collection in try store.collections() {
          let indexes = try store[collection.name].indexes()
          let fullTextIndexes = try store[collection.name].fullTextIndexes()
          guard !indexes.isEmpty || !fullTextIndexes.isEmpty else { continue }
          var declarations: DocumentObject = [
            "indexes": .array(indexes.filter { !$0.isUnique }.map { .string($0.declaration) }),
            "uniqueIndexes": .array(indexes.filter(\.isUnique).map { .string($0.declaration) }),
          ]
          for (name, tokens) in [
            ("textIndexes", Tokenizer.words), ("substringIndexes", .substrings),
          ] {
            let found = fullTextIndexes.filter { $0.tokens == tokens }
            guard !found.isEmpty else { continue }
            declarations[name] = .array(found.map { .string($0.keys) })
          }
          all.append(collection.name, .object(declarations))
        }
        try Output.run { try $0.line(TerminalText.json(all.jsonString(pretty: true))) }
      }
    }
  }
}

extension IndexDefinition {
  /// The fields in the syntax of the command's arguments.
  fileprivate var fieldList: String {
    columns.map { $0.path.description + ($0.descending ? ":desc" : "") }.joined(separator: ", ")
  }
}

extension IndexDefinition.Kind {
  /// What an index of this kind contains, as tables show it.
  fileprivate var indexedValues: String {
    switch self {
    case .fields: "values"
    case .elements: "elements"
    }
  }
}
