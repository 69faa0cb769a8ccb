// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct AggregateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "aggregate",
    abstract: "Compute counts, minimums, maximums, averages and sums, optionally grouped.",
    discussion: """
      The columns are the grouping fields followed by the aggregates, in the order of the options. A \
      document whose grouping field contains an array counts in the group of each element; a \
      document without the field counts in the null group. --sort takes the name of a column. --pipe \
      takes stages instead of these options: UNWIND, EXTEND, SELECT, AGGREGATE … GROUP BY, WHERE, \
      ORDER BY, LIMIT … PER, UNION ALL and FACET, separated by |>.
      """)

  @OptionGroup var target: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  @Option(help: ArgumentHelp("Group by a field; repeat for more.", valueName: "field"))
  var group: [String] = []

  @Flag(help: "Count documents.")
  var count = false

  @Option(help: ArgumentHelp("Count the values of a field.", valueName: "field"))
  var countOf: [String] = []

  @Option(help: ArgumentHelp("Minimum value of a field.", valueName: "field"))
  var min: [String] = []

  @Option(help: ArgumentHelp("Maximum value of a field.", valueName: "field"))
  var max: [String] = []

  @Option(help: ArgumentHelp("Average of the numbers in a field.", valueName: "field"))
  var average: [String] = []

  @Option(help: ArgumentHelp("Sum of the numbers in a field.", valueName: "field"))
  var sum: [String] = []

  @Option(
    help: ArgumentHelp(
      "Stages that the documents go through, such as \"UNWIND [genres] |> AGGREGATE count(*) GROUP BY "
        + "[genres]\"; parameters are named.",
      valueName: "stages"))
  var pipe: String?

  // The aggregate options above, rewritten in order; see OrderedArguments.
  @Option(name: .customLong("column"), help: .hidden)
  var orderedColumns: [String] = []

  @Option(
    help: ArgumentHelp("Sort the groups by a column; repeat for more.", valueName: "column[:desc]"))
  var sort: [String] = []

  @Option(help: "Maximum number of groups.")
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
      default: throw ValidationError("'\(text)' is not an aggregate")
      }
      name = parts.count > 1 ? "\(parts[0])_\(parts[1])" : parts[0]
    }
  }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    if pipe != nil {
      guard group.isEmpty, orderedColumns.isEmpty, sort.isEmpty, limit == nil else {
        throw ValidationError(
          "--pipe excludes --group, --sort, --limit and the aggregates; write them as stages")
      }
    }
  }

  func run() throws {
    if let pipe { return try run(pipe) }
    let results = try (orderedColumns.isEmpty ? ["count"] : orderedColumns).map(Column.init)
    let columns = group + results.map(\.name)
    let orders = try sort.map { text in
      let field = SortField(text)
      guard let index = columns.firstIndex(where: { $0.hasSameBytes(as: field.field) }) else {
        throw ValidationError(
          "Unknown sort column '\(field.field)'; the columns are: "
            + columns.joined(separator: ", "))
      }
      return (index: index, descending: field.descending)
    }
    try target.withCollection(.reading) { collection in
      let query = try condition.query(in: collection)
      let aggregateQuery = AggregateQuery(
        query.query, groups: group.map { FieldPath($0) }, aggregates: results.map(\.aggregate))
      try Output.run { output in
        let printer = format.rows(columns, to: output)
        if orders.isEmpty {
          // All groups are computed before the first row is returned, so an error leaves no partial output.
          var written = 0
          try query.eachRow(aggregateQuery) { row in
            guard written < limit ?? .max else { return false }
            if written == 0 { try printer.begin() }
            try printer.add(row.group + row.values)
            written += 1
            return true
          }
          if written == 0 { try printer.begin() }
        } else {
          let rows = try query.rows(aggregateQuery).map { $0.group + $0.values }
          try printer.begin()
          for row in Self.sorted(rows, by: orders).prefix(limit ?? .max) { try printer.add(row) }
        }
        try printer.finish()
      }
    }
  }

  /// Sorts the rows; rows that compare equal keep the order of their groups.
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
