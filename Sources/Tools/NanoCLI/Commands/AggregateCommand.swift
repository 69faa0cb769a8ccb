// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct AggregateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "aggregate",
    abstract: "Count, and find minimum, maximum, average and sum, in groups or over all.",
    discussion: """
      The columns are the groups and then the results, in the order in which they are asked for. A \
      document whose grouping field holds a list counts in the group of each element, one without \
      the field in that of null. --sort takes the name of a column.
      """)

  @OptionGroup var place: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  @Option(help: ArgumentHelp("Group by a field; repeat for more.", valueName: "field"))
  var group: [String] = []

  @Flag(help: "The number of documents.")
  var count = false

  @Option(help: ArgumentHelp("The number of values of a field.", valueName: "field"))
  var countOf: [String] = []

  @Option(help: ArgumentHelp("The smallest value.", valueName: "field"))
  var min: [String] = []

  @Option(help: ArgumentHelp("The largest value.", valueName: "field"))
  var max: [String] = []

  @Option(help: ArgumentHelp("The mean of the numbers.", valueName: "field"))
  var average: [String] = []

  @Option(help: ArgumentHelp("The sum of the numbers.", valueName: "field"))
  var sum: [String] = []

  // What the options above become, in their order; see OrderedArguments.
  @Option(name: .customLong("column"), help: .hidden)
  var given: [String] = []

  @Option(help: ArgumentHelp("Sort the groups by a column; repeat.", valueName: "column[:desc]"))
  var sort: [String] = []

  @Option(help: "At most so many groups.")
  var limit: Int?

  @OptionGroup var format: FormatOptions

  private struct Column {
    let name: String
    let aggregate: Aggregate

    init(_ text: String) throws {
      let parts = text.utf8.split(
        separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false
      ).map { String(Substring($0)) }
      let path = FieldPath(parts.count > 1 ? parts[1] : "")
      switch parts[0] {
      case "count" where parts.count == 1: aggregate = .count
      case "count-of": aggregate = .countOf(path)
      case "min": aggregate = .min(path)
      case "max": aggregate = .max(path)
      case "average": aggregate = .average(path)
      case "sum": aggregate = .sum(path)
      default: throw ValidationError("'\(text)' is no result.")
      }
      name = parts.count > 1 ? "\(parts[0])_\(parts[1])" : parts[0]
    }
  }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit is negative.") }
  }

  func run() throws {
    let results = try (given.isEmpty ? ["count"] : given).map(Column.init)
    let columns = group + results.map(\.name)
    let orders = try sort.map { text in
      let field = SortField(text)
      guard let index = columns.firstIndex(where: { $0.isSame(as: field.field) }) else {
        throw ValidationError(
          "There is no column '\(field.field)' to sort by; there are: "
            + columns.joined(separator: ", "))
      }
      return (index: index, descending: field.descending)
    }
    try place.withCollection(.reading) { collection in
      let query = try condition.query(in: collection)
      let question = AggregateQuery(
        query.query, groups: group.map { FieldPath($0) }, aggregates: results.map(\.aggregate))
      try Output.run { output in
        let printer = format.rows(columns, to: output)
        if orders.isEmpty {
          // All is computed when the first row comes, so that nothing is written before an error.
          var written = 0
          try query.eachRow(question) { row in
            guard written < limit ?? .max else { return false }
            if written == 0 { try printer.begin() }
            try printer.add(row.group + row.values)
            written += 1
            return true
          }
          if written == 0 { try printer.begin() }
        } else {
          let rows = try query.rows(question).map { $0.group + $0.values }
          try printer.begin()
          for row in Self.sorted(rows, by: orders).prefix(limit ?? .max) { try printer.add(row) }
        }
        try printer.finish()
      }
    }
  }

  /// Equal rows stay in the order of their groups.
  private static func sorted(
    _ rows: [[DocumentValue]], by orders: [(index: Int, descending: Bool)]
  ) -> [[DocumentValue]] {
    rows.enumerated().sorted { a, b in
      for (index, descending) in orders {
        let order = ValueOrder.compare(a.element[index], b.element[index])
        if order != 0 { return descending ? order > 0 : order < 0 }
      }
      return a.offset < b.offset
    }.map(\.element)
  }
}
