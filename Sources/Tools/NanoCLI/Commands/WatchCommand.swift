// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Show what a condition finds, and then what changes of it, until interrupted.",
    discussion: """
      Each line is a JSON object: change is found (at the beginning), inserted, changed, moved or \
      removed; position counts from 0 in what is found, for removed in what was found. What other \
      programs write is shown within a tenth of a second; of changes that follow each other faster, \
      only the last ones may be shown.
      """)

  @OptionGroup var place: CollectionOptions
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var page: PageOptions

  @Option(
    help: ArgumentHelp("Only these fields, and only their changes.", valueName: "a,b.c"))
  var fields: [String] = []

  @Flag(help: "Leave out what is there at the beginning.")
  var new = false

  @Option(help: "End after so many lines.")
  var count: Int?

  @Flag(help: "JSON without {\"$date\": …} and the like: dates and data are plain text.")
  var plain = false

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count takes 1 or more.") }
  }

  func run() throws {
    let run = InterruptibleRun()
    try place.withCollection(.reading) { collection in
      var query = try page.applied(to: condition.query(in: collection))
      let paths = fields.flatMap(FieldList.split).map { FieldPath($0) }
      if !paths.isEmpty { query = query.select(paths) }
      try run.run { [query, self] in
        let lines = ChangeLines(isPlain: plain, showsFirst: !new, maximum: count)
        for try await update in query.updates().differences() {
          guard try lines.show(update) else { break }
        }
      }
    }
  }
}

/// Writes a line for each change of what is found.
private final class ChangeLines {
  private let output = Output()
  private let printer: ObjectPrinter
  private var known: [Document] = []
  private var isFirst = true
  private let showsFirst: Bool
  /// How many lines may still come; nil if any number.
  private var rest: Int?

  init(isPlain: Bool, showsFirst: Bool, maximum: Int?) {
    printer = ObjectPrinter(isArray: false, isPlain: isPlain, isPretty: false, to: output)
    self.showsFirst = showsFirst
    rest = maximum
  }

  /// - Returns: Whether more is wanted.
  func show(_ update: DocumentsUpdate<Document>) throws -> Bool {
    defer {
      known = update.documents
      isFirst = false
    }
    if !isFirst || showsFirst { try lines(update) }
    // Whoever reads it wants to know at once.
    try output.flush()
    return rest != 0
  }

  /// Lines that make the new list of the old one when they are applied in turn.
  private func lines(_ update: DocumentsUpdate<Document>) throws {
    let (difference, found) = (update.difference, update.documents)
    for (count, position) in difference.removed.enumerated() {
      try line("removed", position - count, known[position], showsFields: false)
    }
    let moves = Dictionary(uniqueKeysWithValues: difference.moved.map { ($0.to, $0.from) })
    let inserted = Set(difference.inserted)
    var waiting = difference.moved.map(\.from).sorted()
    var staying = Set(known.indices).subtracting(difference.removed).subtracting(waiting).sorted()[
      ...]
    var last = -1
    for position in found.indices where !moves.isEmpty || inserted.contains(position) {
      guard inserted.contains(position) || moves[position] != nil else {
        last = staying.popFirst() ?? last
        continue
      }
      if let from = moves[position] { waiting.removeAll { $0 == from } }
      // Documents that still wait to be moved stand before it where they stood.
      let place = position + waiting.count { $0 < last }
      if inserted.contains(position) {
        try line(isFirst ? "found" : "inserted", place, found[position])
      } else {
        try line("moved", place, found[position], showsFields: false)
      }
    }
    for step in difference.changed { try line("changed", step.to, found[step.to]) }
  }

  private func line(
    _ change: String, _ position: Int, _ document: Document, showsFields: Bool = true
  ) throws {
    guard rest != 0 else { return }
    rest = rest.map { $0 - 1 }
    var object: DocumentObject = [
      "change": .string(change), "position": .int(Int64(position)),
      "rowid": .int(document.rowID ?? 0),
    ]
    if let key = document.key { object.append("key", .string(key)) }
    if showsFields { object.append("document", .object(try document.object())) }
    try printer.add(object)
  }
}
