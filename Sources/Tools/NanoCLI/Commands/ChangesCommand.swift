// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ChangesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Print what has changed since a position in the change feed of a collection.",
    discussion: """
      Each line is a JSON object: the position after it, the row ID, the key, the class and the \
      revision of a document, and either the document or "deleted":true. A document is listed once, \
      with its newest state. To continue later, pass the position of the last line to --since.

      The line {"reset":"…"} says that the feed cannot be continued, because the collection was \
      created again (restarted), restored from a backup (restored), or deletions after the position \
      were pruned (pruned). All documents follow.

      Tracking must be turned on first, with --track; documents from before are listed, too.
      """)

  @OptionGroup var target: CollectionOptions

  @Flag(help: "Turn tracking on, if it is off, and print nothing.")
  var track = false

  @Option(
    help: ArgumentHelp(
      "Print only changes after this position; an empty one is the beginning.",
      valueName: "position"))
  var since: String?

  @Flag(help: "Continue with later changes, until interrupted.")
  var follow = false

  @Option(help: ArgumentHelp("Print only the documents with these keys.", valueName: "key"))
  var key: [String] = []

  @Flag(help: "Omit the documents.")
  var idsOnly = false

  @Option(help: "Stop after this many lines.")
  var count: Int?

  @OptionGroup var json: JSONOutputOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be at least 1") }
    guard !track || since == nil && !follow else {
      throw ValidationError("--track cannot be combined with --since and --follow")
    }
    // The set of keys of a feed would contain only one of them.
    guard Set(key).count == Set(key.map { Array($0.utf8) }).count else {
      throw ValidationError(
        "Two keys differ only in how Unicode composes their characters; print one at a time")
    }
    _ = try position()
  }

  private func position() throws -> FeedPosition? {
    guard let since, !since.isEmpty else { return nil }
    guard let position = FeedPosition(since) else {
      throw ValidationError("'\(since)' is not a position")
    }
    return position
  }

  func run() throws {
    if track {
      return try target.withCollection(.creating) { try $0.setChangeTracking(.on) }
    }
    let run = InterruptibleRun()
    let position = try position()
    try target.withCollection(.reading) { collection in
      try run.run { [self] in
        let lines = FeedLines(isPlain: json.plain, maximum: count)
        try await print(collection, after: position, to: lines)
        try lines.finish()
      }
    }
  }

  private func print(
    _ collection: DocumentCollection, after position: FeedPosition?, to lines: FeedLines
  ) async throws {
    let keys = key.isEmpty ? nil : Set(key)
    if follow {
      let feed = collection.changeFeed(since: position, keys: keys, withDocuments: !idsOnly)
      for try await event in feed {
        guard try lines.show(event) else { return }
      }
      return
    }
    var position = position
    var hasMore = true
    while hasMore {
      let page = try await collection.changes(
        since: position, keys: keys, withDocuments: !idsOnly)
      switch page {
      case .entries(let entries, let next, let more):
        for entry in entries {
          guard try lines.show(.entry(entry)) else { return }
        }
        (position, hasMore) = (next, more)
      case .reset(let reason):
        guard try lines.show(.reset(reason)) else { return }
        position = nil
      }
    }
  }
}

/// Writes one line for each event of a change feed.
private final class FeedLines {
  private let output = Output()
  private let printer: ObjectPrinter
  private var unrepresentable = UnrepresentableDocuments()
  /// The number of lines left to print; nil if unlimited.
  private var remaining: Int?

  init(isPlain: Bool, maximum: Int?) {
    printer = ObjectPrinter(isArray: false, isPlain: isPlain, isPretty: false, to: output)
    remaining = maximum
  }

  /// Prints an event; returns false if the maximum number of lines has been printed.
  func show(_ event: FeedEvent) throws -> Bool {
    switch event {
    case .reset(let reason): try printer.add(["reset": .string(reason.rawValue)])
    case .entry(let entry): try printer.add(object(entry))
    }
    // Readers expect each change immediately.
    try output.flush()
    remaining = remaining.map { $0 - 1 }
    return remaining != 0
  }

  /// - Throws: ``CommandFailure`` if a document could not be written unchanged.
  func finish() throws { try unrepresentable.finish() }

  private func object(_ entry: FeedEntry) throws -> DocumentObject {
    var object: DocumentObject = [
      "position": .string(entry.position.description), "rowid": .int(entry.rowID),
    ]
    if let key = entry.key { object.append("key", .string(key)) }
    if let type = entry.type { object.append("class", .string(type)) }
    if let revision = entry.revision { object.append("revision", .int(revision)) }
    if entry.isDeleted { object.append("deleted", .bool(true)) }
    // The line has the position, without which a reader could not continue after an unreadable document.
    if let document = entry.document,
      let fields = try unrepresentable.checkedObject(of: document)
    {
      object.append("document", .object(fields))
    }
    return object
  }
}
