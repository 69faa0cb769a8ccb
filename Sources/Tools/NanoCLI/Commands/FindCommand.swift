// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Print the documents that match a condition.",
    discussion: """
      The condition may end with ORDER BY and LIMIT; --sort, --limit and --offset take precedence. \
      Write fields in --fields and --sort as in conditions, without brackets. __key__, __rowid__, \
      __type__, __version__ and __added__ are the metadata of a document.

      --include adds documents of another collection: 'directorID=people:director' those whose key the field has, as the \
      field 'director'; '__key__=reviews.filmID:reviews' those whose field has the key.
      """)

  @OptionGroup var target: CollectionOptions
  @OptionGroup var options: QueryOptions

  @Option(
    help: ArgumentHelp("Print only these fields, separated by commas.", valueName: "a,b.c"))
  var fields: [String] = []

  @Option(
    help: ArgumentHelp(
      "Include related documents; may be repeated.", valueName: "field=collection[.field][:name]"))
  var include: [String] = []

  @Flag(help: "Print only the keys, one per line.")
  var keys = false

  @OptionGroup var format: FormatOptions

  /// The number of documents that determine the columns of a table; arbitrary.
  private static let sampleSize = 500

  func run() throws {
    try target.withCollection(.reading) { collection in
      let query = TrackedQuery(
        try options.query(in: collection), try inclusions(in: collection.store))
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
      if query.isEmpty { try Self.noteUnknownFields(query.documents) }
    }
  }

  private func inclusions(in store: Store) throws -> [IncludeOption] {
    try include.map { text in
      let option = try IncludeOption(text)
      try CollectionOptions.noteMissing(option.collection, in: store)
      return option
    }
  }

  /// A query that records whether it returned any documents.
  private final class TrackedQuery {
    let documents: DocumentQuery
    private let inclusions: [IncludeOption]
    private(set) var isEmpty = true

    init(_ documents: DocumentQuery, _ inclusions: [IncludeOption]) {
      self.documents = documents
      self.inclusions = inclusions
    }

    /// Passes whole documents, or documents without fields.
    func each(withFields: Bool = true, _ body: (Document) throws -> Void) throws {
      guard inclusions.isEmpty || !withFields else {
        return try IncludeOption.query(inclusions, documents).each { document in
          isEmpty = false
          try body(try document.merged)
        }
      }
      try (withFields ? documents : documents.select([])).each { document in
        isEmpty = false
        try body(document)
      }
    }
  }

  /// Explains an empty result that may be due to a misspelled field.
  private static func noteUnknownFields(_ query: DocumentQuery) throws {
    for field in try query.explain().unknownFields {
      Diagnostics.print("note: the query uses \(TerminalText.text(ExplainCommand.sentence(field)))")
    }
  }

  private func showKeys(_ query: TrackedQuery, _ output: Output) throws {
    var omitted = 0
    try query.each(withFields: false) { document in
      // Documents in a collection with row ID identity have no keys.
      let key = document.key ?? "\(document.rowID ?? 0)"
      if Terminal.isOutput { return try output.line(TerminalText.text(key)) }
      guard !key.utf8.contains(UInt8(ascii: "\n")) else {
        omitted += 1
        return Diagnostics.print(
          TerminalText.text("row ID \(document.rowID ?? 0): The key '\(key)' contains a line feed"))
      }
      try output.line(key)
    }
    guard omitted == 0 else {
      throw CommandFailure(
        message: "\(Quantity.documents(omitted)) omitted (--fields __key__ prints keys as JSON)")
    }
  }

  private func showObjects(
    _ query: TrackedQuery, _ shown: [ShownField], _ output: Output
  ) throws {
    let printer = ObjectPrinter(
      isArray: format.chosen == .json, isPlain: format.json.plain, isPretty: format.pretty,
      to: output)
    guard !shown.isEmpty else {
      try query.each { try printer.add($0) }
      return try printer.finish()
    }
    let paths = shown.compactMap(\.path)
    for case .attribute(let name, _) in shown
    where paths.contains(where: { $0.components[0] == name }) {
      throw ValidationError(
        "The attribute and the field '\(name)' cannot both appear in one JSON object; remove one from --fields"
      )
    }
    for path in paths { try path.validate() }
    var unrepresentable = UnrepresentableDocuments()
    try query.each(withFields: !paths.isEmpty) { document in
      guard let whole = try unrepresentable.checkedObject(of: document) else { return }
      var object = DocumentObject()
      for field in shown {
        guard case .attribute(let name, _) = field, let value = field.value(in: document, whole)
        else { continue }
        object.append(name, value)
      }
      object.merge(whole.selecting(paths))
      try printer.add(object)
    }
    try printer.finish()
    try unrepresentable.finish()
  }

  private func showRows(_ query: TrackedQuery, _ shown: [ShownField], _ output: Output) throws {
    let paths = shown.compactMap(\.path)
    for path in paths { try path.validate() }
    let rows = format.rows(shown.map(\.name), to: output)
    var unrepresentable = UnrepresentableDocuments()
    try rows.begin()
    // Without the other elements of an array, an element would have another position.
    try query.each(withFields: !paths.isEmpty) { document in
      guard let whole = try unrepresentable.object(of: document) else { return }
      try rows.add(shown.map { $0.value(in: document, whole) })
    }
    try rows.finish()
    try unrepresentable.finish()
  }

  /// Prints a table with the fields of the first documents as columns.
  private func showTable(_ query: TrackedQuery, _ output: Output) throws {
    var sample: [DocumentObject] = []
    var unrepresentable = UnrepresentableDocuments()
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
      guard let object = try unrepresentable.object(of: document) else { return }
      if let rows { return try rows.add(object) }
      sample.append(object)
      if sample.count >= Self.sampleSize { _ = try begin() }
    }
    let printer = try rows ?? begin()
    try printer.finish()
    try unrepresentable.finish()
  }

  /// Prints CSV with all fields as columns, which requires reading the documents twice.
  private func showCSV(_ query: TrackedQuery, _ output: Output) throws {
    try query.documents.collection.store.read {
      var columns = FieldNames()
      var unrepresentable = UnrepresentableDocuments()
      try query.each { document in
        if let object = try unrepresentable.object(of: document) { columns.add(object) }
      }
      let rows = format.rows(columns.names, to: output)
      try rows.begin()
      try query.each { document in
        if let object = try? document.object() { try rows.add(object) }
      }
      try rows.finish()
      try unrepresentable.finish()
    }
  }
}
