// SPDX-License-Identifier: MIT

import NanoStore

/// Writes rows of named columns in the selected format.
final class RowPrinter {
  private enum Form {
    case objects(ObjectPrinter)
    case csv(CSVLines)
    case table(Table)
  }
  private let columns: [String]
  private let form: Form
  private let output: Output

  init(
    _ columns: [String], _ format: OutputFormat, isPlain: Bool, isPretty: Bool, to output: Output
  ) {
    self.columns = format == .table || format == .csv ? columns : Self.distinct(columns)
    self.output = output
    form =
      switch format {
      case .json, .ndjson:
        .objects(
          ObjectPrinter(isArray: format == .json, isPlain: isPlain, isPretty: isPretty, to: output))
      case .csv: .csv(CSVLines(FieldNames(columns), to: output))
      case .table: .table(Table(columns, width: Terminal.width, to: output))
      }
  }

  /// Writes the header; must be called once, before the rows.
  func begin() throws {
    if case .csv(let lines) = form { try lines.header() }
  }

  /// Writes a row; nil is omitted from JSON, and an empty cell in other formats.
  func add(_ values: [DocumentValue?]) throws {
    switch form {
    case .objects(let printer):
      var object = DocumentObject()
      for (column, value) in zip(columns, values) {
        if let value { object.append(column, value) }
      }
      try printer.add(object)
    case .csv(let lines): try lines.add(values)
    case .table(let table): try table.add(values)
    }
  }

  /// Writes the fields of an object in the columns of the same names; other fields are omitted.
  func add(_ object: DocumentObject) throws {
    switch form {
    case .objects(let printer): try printer.add(object)
    case .csv(let lines): try lines.add(object)
    case .table(let table): try table.add(table.candidates.map { object[$0] })
    }
  }

  func finish() throws {
    switch form {
    case .objects(let printer): try printer.finish()
    case .csv: break
    case .table(let table):
      let hidden = try table.finish()
      guard !hidden.isEmpty else { return }
      try output.flush()
      Diagnostics.print("note: the table has no room for \(Self.list(hidden))")
    }
  }

  /// The number of names listed in a note; arbitrary.
  private static let namesInNote = 10

  private static func list(_ names: ArraySlice<String>) -> String {
    let listed = names.prefix(namesInNote).map(TerminalText.text).joined(separator: ", ")
    let others = names.count - namesInNote
    return others > 0 ? "\(listed), and \(Quantity.count(others)) more fields" : listed
  }

  /// Makes column names unique, since SQL allows duplicates and a JSON object does not.
  private static func distinct(_ columns: [String]) -> [String] {
    var seen: Set<ExactName> = []
    return columns.map { column in
      var name = column
      var number = 1
      while !seen.insert(ExactName(name)).inserted {
        number += 1
        name = "\(column):\(number)"
      }
      return name
    }
  }
}

/// Writes objects as JSON, in an array or one per line.
final class ObjectPrinter {
  private let isArray: Bool
  private let isPlain: Bool
  private let isPretty: Bool
  private let output: Output
  private var isFirst = true
  private var writer = JSONWriter()
  private var unrepresentable = UnrepresentableDocuments()

  init(isArray: Bool, isPlain: Bool, isPretty: Bool, to output: Output) {
    self.isArray = isArray
    self.isPlain = isPlain
    self.isPretty = isPretty
    self.output = output
  }

  func add(_ object: DocumentObject) throws {
    writer.removeAll()
    writer.text(.object(object), pretty: isPretty, dialect: isPlain ? .plain : .extended)
    if let failure = writer.failure { throw failure }
    try writeRecord()
  }

  /// Writes a document, using its stored form unless plain or pretty JSON was requested.
  ///
  /// Reports a document that has no stored form, and writes it as queries see it.
  func add(_ document: Document) throws {
    writer.removeAll()
    let isRepresentable = try unrepresentable.attempt(document) { try document.write(to: &writer) }
    guard isRepresentable else {
      guard let object = try? document.object() else { return }
      return try add(object)
    }
    guard !isPlain, !isPretty else { return try add(document.object()) }
    // Earlier versions of the library kept white space written by other programs.
    if !CanonicalBody.isOneLine(writer.bytes) { return try add(document.object()) }
    if let shortened = ExternalBody.shortened(writer.bytes) {
      writer.removeAll()
      shortened.withUnsafeBytes { writer.raw($0) }
    }
    try writeRecord()
  }

  private func writeRecord() throws {
    if isArray { try output.write(isFirst ? "[\n" : ",\n") }
    isFirst = false
    if Terminal.isOutput {
      try output.write(TerminalText.json(writer.text))
    } else {
      try output.write(writer.bytes)
    }
    if !isArray { try output.write("\n") }
  }

  /// Finishes the output.
  ///
  /// - Throws: ``CommandFailure`` if a document could not be written unchanged.
  func finish() throws {
    if isArray { try output.write(isFirst ? "[]\n" : "\n]\n") }
    try unrepresentable.finish()
  }
}
