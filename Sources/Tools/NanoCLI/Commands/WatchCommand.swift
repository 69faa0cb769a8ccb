// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print the result of a query, then its changes, until interrupted.",
    discussion: """
      Each line is a JSON object. change is found (initial result), inserted, changed, moved or \
      removed; position is the zero-based position in the result that the previous lines produce. \
      Writes of other programs appear within 0.1 seconds; faster successive changes may be combined.
      """)

  @OptionGroup var target: CollectionOptions
  @OptionGroup var options: QueryOptions

  @Option(
    help: ArgumentHelp("Print only these fields, and only changes to them.", valueName: "a,b.c"))
  var fields: [String] = []

  @Flag(help: "Omit the initial result.")
  var new = false

  @Option(help: "Stop after this many lines.")
  var count: Int?

  @OptionGroup var json: JSONOutputOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be at least 1") }
  }

  func run() throws {
    let run = InterruptibleRun()
    try target.withCollection(.reading) { collection in
      var query = try options.query(in: collection)
      let paths = fields.flatMap(FieldList.split).map { FieldPath($0) }
      if !paths.isEmpty { query = query.select(paths) }
      try run.run { [query, self] in
        let lines = ChangeLines(isPlain: json.plain, showsInitial: !new, maximum: count)
        for try await update in query.updates().differences() {
          guard try lines.show(update) else { break }
        }
        try lines.finish()
      }
    }
  }
}

/// Writes one line for each change of a query result.
private final class ChangeLines {
  private let output = Output()
  private let printer: ObjectPrinter
  private var unrepresentable = UnrepresentableDocuments()
  private var previous: [Document] = []
  private var isFirst = true
  private let showsInitial: Bool
  /// The number of lines left to print; nil if unlimited.
  private var remaining: Int?

  init(isPlain: Bool, showsInitial: Bool, maximum: Int?) {
    printer = ObjectPrinter(isArray: false, isPlain: isPlain, isPretty: false, to: output)
    self.showsInitial = showsInitial
    remaining = maximum
  }

  /// Prints the changes of an update.
  ///
  /// - Returns: False if the maximum number of lines has been printed.
  func show(_ update: DocumentsUpdate<Document>) throws -> Bool {
    defer {
      previous = update.documents
      isFirst = false
    }
    if !isFirst || showsInitial { try lines(update) }
    // Readers expect each change immediately.
    try output.flush()
    return remaining != 0
  }

  /// Prints lines that transform the previous result into the new one when applied in order.
  private func lines(_ update: DocumentsUpdate<Document>) throws {
    let (difference, found) = (update.difference, update.documents)
    for (count, position) in difference.removed.enumerated() {
      try line("removed", position - count, previous[position], showsFields: false)
    }
    let moves = Dictionary(uniqueKeysWithValues: difference.moved.map { ($0.to, $0.from) })
    let inserted = Set(difference.inserted)
    var pendingMoves = Set(difference.moved.map(\.from))
    let unmovedPositions = Set(previous.indices).subtracting(difference.removed)
      .subtracting(pendingMoves).sorted()
    var unmoved = unmovedPositions[...]
    var last = -1
    // The pending moves from positions before `last`, which only increases; the others are in `later`.
    var earlierCount = 0
    var later = pendingMoves.sorted()[...]
    for position in found.indices where !moves.isEmpty || inserted.contains(position) {
      guard inserted.contains(position) || moves[position] != nil else {
        last = unmoved.popFirst() ?? last
        while let from = later.first, from < last {
          later.removeFirst()
          if pendingMoves.contains(from) { earlierCount += 1 }
        }
        continue
      }
      if let from = moves[position] {
        pendingMoves.remove(from)
        if from < last { earlierCount -= 1 }
      }
      // Documents that are moved by later lines still precede it at their old positions.
      let current = position + earlierCount
      if inserted.contains(position) {
        try line(isFirst ? "found" : "inserted", current, found[position])
      } else {
        try line("moved", current, found[position], showsFields: false)
      }
    }
    for step in difference.changed { try line("changed", step.to, found[step.to]) }
  }

  private func line(
    _ change: String, _ position: Int, _ document: Document, showsFields: Bool = true
  ) throws {
    guard remaining != 0 else { return }
    remaining = remaining.map { $0 - 1 }
    var object: DocumentObject = [
      "change": .string(change), "position": .int(Int64(position)),
      "rowid": .int(document.rowID ?? 0),
    ]
    if let key = document.key { object.append("key", .string(key)) }
    if showsFields, let fields = try unrepresentable.checkedObject(of: document) {
      object.append("document", .object(fields))
    }
    try printer.add(object)
  }

  /// - Throws: ``CommandFailure`` if a document could not be written unchanged.
  func finish() throws { try unrepresentable.finish() }
}
