// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

extension IndexCommand {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the indexes of a collection, who wanted them and why.")

    @OptionGroup var place: CollectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
      try place.withCollection(.reading) { collection in
        let indexes = try collection.indexes()
        let uses = try collection.store.exactIndexUses(in: collection.name)
        try Output.run { output in
          let rows = format.rows(
            ["index", "fields", "unique", "of", "origin", "uses", "reason"], to: output)
          try rows.begin()
          for index in indexes {
            try rows.add([
              .string(index.name), .string(index.fieldList), .bool(index.isUnique),
              index.kind == .elements ? "elements" : "values", .string(index.origin.rawValue),
              uses[ExactName(index.name)].map { .int(Int64($0)) }, index.reason.map { .string($0) },
            ])
          }
          for index in try collection.textIndexes() {
            let fields = index.fields.map(\.description).joined(separator: ", ")
            try rows.add([
              .string(index.name), .string(fields), .bool(false), .string(index.tokens.rawValue),
              "declared", nil, nil,
            ])
          }
          try rows.finish()
        }
      }
    }
  }

  struct Advise: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "advise",
      abstract: "Show which indexes queries missed, as programs found out that used the database.",
      discussion: """
        With --apply the ones that are due are made and dropped. A program that opens its store with \
        indexTuning .automatic, the default, does so by itself.
        """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var format: FormatOptions

    @Flag(help: "Make and drop what is due.")
    var apply = false

    func run() throws {
      guard !apply else { return try applyAdvice() }
      try database.withStore(.reading) { store in
        let advice = try store.indexAdvice()
        try Output.run { output in
          let rows = format.rows(
            ["collection", "fields", "of", "action", "due", "reason"], to: output)
          try rows.begin()
          for item in advice {
            try rows.add([
              .string(item.collection), .string(item.index.fieldList),
              item.index.kind == .elements ? "elements" : "values",
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
        let made = try store.applyIndexAdvice()
        try Output.run { output in
          for index in made { try output.line(Printable.text("made index \(index.name)")) }
          for item in drops {
            try output.line(
              Printable.text("dropped index \(item.index.name) on \(item.collection)"))
          }
          if made.isEmpty && drops.isEmpty { try output.line("nothing is due") }
        }
      }
    }
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Print the indexes of all collections as JSON that declares them.",
      discussion: """
        {"people":{"indexes":["[last], [first] DESC"],"uniqueIndexes":[]}}: those that the store made for \
        itself stand among the declared ones.
        """)

    @OptionGroup var database: DatabaseOptions

    func run() throws {
      try database.withStore(.reading) { store in
        var all = DocumentObject()
        for collection in try store.collections() {
          let indexes = try store[collection.name].indexes()
          let textIndexes = try store[collection.name].textIndexes()
          guard !indexes.isEmpty || !textIndexes.isEmpty else { continue }
          var declarations: DocumentObject = [
            "indexes": .array(indexes.filter { !$0.isUnique }.map { .string($0.declaration) }),
            "uniqueIndexes": .array(indexes.filter(\.isUnique).map { .string($0.declaration) }),
          ]
          for (name, tokens) in [
            ("textIndexes", TextTokens.words), ("substringIndexes", .substrings),
          ] {
            let found = textIndexes.filter { $0.tokens == tokens }
            guard !found.isEmpty else { continue }
            declarations[name] = .array(found.map { .string($0.keys) })
          }
          all.append(collection.name, .object(declarations))
        }
        try Output.run { try $0.line(all.jsonString(pretty: true)) }
      }
    }
  }
}

extension IndexDefinition {
  /// The fields as the command takes them.
  fileprivate var fieldList: String {
    columns.map { $0.path.description + ($0.descending ? ":desc" : "") }.joined(separator: ", ")
  }
}
