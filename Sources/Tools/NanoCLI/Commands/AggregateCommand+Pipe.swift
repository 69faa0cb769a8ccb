// SPDX-License-Identifier: MIT

import NanoStore

extension AggregateCommand {
  /// The number of rows that determine the columns of a table; arbitrary.
  private static let sampleSize = 500

  /// Prints the rows of a pipeline written as text. The positional arguments belong to the condition, the
  /// named ones to either.
  func run(_ pipe: String) throws {
    try target.withCollection(.reading) { collection in
      let named = try condition.arguments.named()
      let pipeline = try pipeline(pipe, named, in: collection)
      try Output.run { output in
        switch format.chosen {
        case .json, .ndjson:
          let printer = ObjectPrinter(
            isArray: format.chosen == .json, isPlain: format.json.plain, isPretty: format.pretty,
            to: output)
          try pipeline.each { try printer.add($0) }
          try printer.finish()
        case .table, .csv: try printRows(of: pipeline, to: output)
        }
      }
    }
  }

  private func pipeline(
    _ pipe: String, _ named: [String: DocumentValue], in collection: DocumentCollection
  ) throws -> DocumentPipeline {
    try ArgumentOptions.check(condition.condition ?? "", in: collection) {
      (text) throws(StoreError) in _ = try QueryText(text)
    }
    try ArgumentOptions.check(pipe, in: collection) { (text) throws(StoreError) in
      _ = try PipelineText(text)
    }
    // A name that only one of the texts has is an error in the other.
    let (inCondition, inPipe) = (
      QueryText.parameterNames(condition.condition ?? ""), QueryText.parameterNames(pipe)
    )
    if let unknown = named.keys.first(where: {
      !inCondition.contains(ExactName($0)) && !inPipe.contains(ExactName($0))
    }) {
      throw StoreError(
        .invalidArgument, "A query text has no parameter of this name", [.actual: unknown])
    }
    func used(_ names: Set<ExactName>) -> [String: DocumentValue] {
      named.filter { names.contains(ExactName($0.key)) }
    }
    let query = try collection.find(
      condition.condition ?? "", arguments: condition.arguments.positional,
      named: used(inCondition))
    let pipeline = try query.pipe(pipe, arguments: [], named: used(inPipe))
    try CollectionOptions.noteMissing(
      query.query.relatedCollections.union(pipeline.pipeline.otherCollections),
      in: collection.store)
    return pipeline
  }

  /// Prints rows in columns: the fields of the first rows in a table, all fields in CSV.
  private func printRows(of pipeline: DocumentPipeline, to output: Output) throws {
    let samples = format.chosen == .table ? Self.sampleSize : .max
    var columns = FieldNames()
    var sample: [DocumentObject] = []
    var printer: RowPrinter?
    func begin() throws -> RowPrinter {
      let rows = format.rows(columns.names, to: output)
      try rows.begin()
      for row in sample { try rows.add(row) }
      sample = []
      printer = rows
      return rows
    }
    try pipeline.each { row in
      if let printer { return try printer.add(row) }
      columns.add(row)
      sample.append(row)
      if sample.count >= samples { _ = try begin() }
    }
    try (printer ?? begin()).finish()
  }
}
