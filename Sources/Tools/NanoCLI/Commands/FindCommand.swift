// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Show the documents that fulfil a condition.",
    discussion: """
      The condition may end with ORDER BY and LIMIT; --sort, --limit and --offset count more. Fields \
      in --fields and --sort are written as in conditions, without brackets; __key__, __rowid__, \
      __type__, __version__ and __added__ stand for what is known of a document besides its fields.
      """)

  @OptionGroup var place: CollectionOptions
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var page: PageOptions

  @Option(
    help: ArgumentHelp("Only these fields, separated by commas.", valueName: "a,b.c"))
  var fields: [String] = []

  @Flag(help: "Only the keys, one a line.")
  var keys = false

  @OptionGroup var format: FormatOptions

  /// Documents that decide which columns a table has; arbitrary.
  private static let sampleSize = 500

  func run() throws {
    try place.withCollection(.reading) { collection in
      let query = Found(try page.applied(to: condition.query(in: collection)))
      let shown = fields.flatMap(FieldList.split).map(ShownField.init)
      try Output.run { output in
        if keys { return try showKeys(query, output) }
        switch format.chosen {
        case .json, .ndjson: try showObjects(query, shown, output)
        case .table where shown.isEmpty: try showTable(query, output)
        case .csv where shown.isEmpty: try showCSV(query, output)
        case .table, .csv: try showRows(query, shown, output)
        }
      }
      if query.isEmpty { try Self.explainNothing(query.documents) }
    }
  }

  /// The documents that are found, and whether there were any.
  private final class Found {
    let documents: DocumentQuery
    private(set) var isEmpty = true

    init(_ documents: DocumentQuery) { self.documents = documents }

    func each(_ paths: [FieldPath]? = nil, _ show: (Document) throws -> Void) throws {
      try (paths.map { documents.select($0) } ?? documents).each { document in
        isEmpty = false
        try show(document)
      }
    }
  }

  /// Nothing was found, perhaps because of a misspelled field.
  private static func explainNothing(_ query: DocumentQuery) throws {
    for field in try query.explain().unknownFields {
      Diagnostics.print("note: the query uses \(TerminalText.text(ExplainCommand.sentence(field)))")
    }
  }

  private func showKeys(_ query: Found, _ output: Output) throws {
    // A collection known by row ids has no keys to show.
    try query.each([]) { document in
      try output.line(TerminalText.text(document.key ?? "\(document.rowID ?? 0)"))
    }
  }

  private func showObjects(
    _ query: Found, _ shown: [ShownField], _ output: Output
  ) throws {
    let printer = ObjectPrinter(
      isArray: format.chosen == .json, isPlain: format.plain, isPretty: format.pretty, to: output)
    guard !shown.isEmpty else {
      try query.each { try printer.add($0) }
      return try printer.finish()
    }
    let paths = shown.compactMap(\.path)
    for case .attribute(let name, _) in shown
    where paths.contains(where: { $0.components[0] == name }) {
      throw ValidationError("The attribute and the field \(name) cannot both appear in one object.")
    }
    try query.each(paths) { document in
      var object = DocumentObject()
      for field in shown {
        guard case .attribute(let name, _) = field, let value = field.value(in: document) else {
          continue
        }
        object.append(name, value)
      }
      object.merge(try document.object())
      try printer.add(object)
    }
    try printer.finish()
  }

  private func showRows(_ query: Found, _ shown: [ShownField], _ output: Output) throws {
    let rows = format.rows(shown.map(\.name), to: output)
    try rows.begin()
    try query.each(shown.compactMap(\.path)) { document in
      try rows.add(shown.map { $0.value(in: document) })
    }
    try rows.finish()
  }

  /// The columns are the fields of the first documents.
  private func showTable(_ query: Found, _ output: Output) throws {
    var sample: [DocumentObject] = []
    var rows: RowPrinter?
    func begin() throws -> RowPrinter {
      var columns = FieldNames()
      for object in sample { columns.add(object) }
      let printer = format.rows(columns.names, to: output)
      try printer.begin()
      for object in sample { try printer.add(object) }
      sample = []
      rows = printer
      return printer
    }
    try query.each { document in
      let object = try document.object()
      if let rows { return try rows.add(object) }
      sample.append(object)
      if sample.count >= Self.sampleSize { _ = try begin() }
    }
    let printer = try rows ?? begin()
    try printer.finish()
  }

  /// The columns are all fields that are found, so the documents are read twice.
  private func showCSV(_ query: Found, _ output: Output) throws {
    try query.documents.collection.store.read {
      var columns = FieldNames()
      try query.each { columns.add(try $0.object()) }
      let rows = format.rows(columns.names, to: output)
      try rows.begin()
      try query.each { try rows.add(try $0.object()) }
      try rows.finish()
    }
  }
}
