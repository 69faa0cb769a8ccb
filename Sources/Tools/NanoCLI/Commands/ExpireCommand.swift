// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

struct ExpireCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire",
    abstract: "Set when documents expire, and delete those that have expired.",
    discussion: """
      Without a subcommand, sets when documents expire: nanostore expire library.db sessions s1 --in 3600 is short for \
      nanostore expire set with the same arguments.
      """,
    subcommands: [Set.self, Get.self, Rule.self, Sweep.self], defaultSubcommand: Set.self)

  struct Set: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Set when documents expire.",
      discussion: """
        From that moment on, a document is absent for every read. A key without a document is not an error.
        """)

    @OptionGroup var target: CollectionOptions
    @Argument(help: "The keys; row IDs with --row-id.")
    var keys: [String]
    @Flag(help: "Interpret the keys as row IDs.")
    var rowID = false
    @Option(
      help: ArgumentHelp("Expire at this time, such as 2026-12-31T23:59:59Z.", valueName: "date"))
    var at: String?
    @Option(
      name: .customLong("in"),
      help: ArgumentHelp("Expire in this many seconds.", valueName: "seconds"))
    var seconds: Double?
    @Flag(help: "Do not expire.")
    var never = false

    func validate() throws {
      guard [at != nil, seconds != nil, never].count(where: { $0 }) == 1 else {
        throw ValidationError("Specify one of --at, --in and --never")
      }
      guard seconds?.isFinite != false else { throw ValidationError("--in requires a number") }
      if let at { _ = try Self.date(at) }
    }

    func run() throws {
      let date =
        try at.map(Self.date) ?? seconds.map { Date.now.addingTimeInterval($0) }
      let count = try target.withExistingCollection { collection in
        try collection.store.write {
          try keys.reduce(0) { count, key in
            let exists =
              try rowID
              ? collection.setExpiration(date, rowID: RowID.parse(key))
              : collection.setExpiration(date, of: key)
            return count + (exists ? 1 : 0)
          }
        }
      }
      try Output.run { try $0.line("changed \(Quantity.documents(count))") }
    }

    private static func date(_ text: String) throws -> Date {
      // Foundation's parser accepts days that do not exist, and ignores the end of a text.
      let json = DocumentValue.object(["$date": .string(text)]).jsonString(dialect: .plain)
      guard case .date(let date)? = try? DocumentValue(json: json) else {
        throw ValidationError("'\(text)' is not a date such as 2026-12-31T23:59:59Z")
      }
      return date
    }
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print when documents expire.",
      discussion: "Prints a date for each key, or 'never', also for a key without a document.")

    @OptionGroup var target: CollectionOptions
    @Argument(help: "The keys; row IDs with --row-id.")
    var keys: [String]
    @Flag(help: "Interpret the keys as row IDs.")
    var rowID = false

    func run() throws {
      try target.withCollection(.reading) { collection in
        let dates = try collection.store.read {
          try keys.map { key in
            try rowID
              ? collection.expiration(rowID: RowID.parse(key)) : collection.expiration(of: key)
          }
        }
        try Output.run { output in
          let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
          for (key, date) in zip(keys, dates) {
            try output.line(TerminalText.text("\(key): \(date.map(style.format) ?? "never")"))
          }
        }
      }
    }
  }

  struct Rule: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print or set the rule by which the documents of a collection expire.",
      discussion: """
        Without options, prints the rule. With --after alone, documents expire that many seconds after their last write; \
        with --field, at the date in that field, or --after that many seconds after it. A new rule applies to the \
        existing documents too, and replaces all expirations.
        """)

    @OptionGroup var target: CollectionOptions
    @Option(help: ArgumentHelp("The field with the date.", valueName: "field"))
    var field: String?
    @Option(help: ArgumentHelp("The seconds after that.", valueName: "seconds"))
    var after: Double?
    @Flag(help: "Remove the rule and all expirations.")
    var none = false

    func validate() throws {
      guard !none || (field == nil && after == nil) else {
        throw ValidationError("--none excludes --field and --after")
      }
      guard !ShownField.attributes.contains(where: { $0.name == field }) else {
        throw ValidationError(
          "--field names a field, not metadata; --after counts from the last write")
      }
      guard after.map({ $0.isFinite && $0.magnitude < 1e12 }) != false else {
        throw ValidationError("--after is out of range")
      }
    }

    private var rule: ExpirationRule? {
      let duration = after.map { Duration.milliseconds(($0 * 1_000).rounded()) }
      if let field { return .field(FieldPath(field), after: duration ?? .zero) }
      return duration.map { .after($0) }
    }

    func run() throws {
      let name = target.collection
      guard none || rule != nil else {
        let rule = try target.withCollection(.reading) { try $0.expirationRule() }
        return try Output.run { try $0.line(TerminalText.text("\(name): \(Self.text(rule))")) }
      }
      if none {
        try target.withExistingCollection { try $0.setExpirationRule(nil) }
      } else {
        try target.withCollection(.creating) { try $0.setExpirationRule(rule) }
      }
      try Output.run { try $0.line(TerminalText.text("\(name): \(Self.text(rule))")) }
    }

    static func text(_ rule: ExpirationRule?) -> String {
      switch rule {
      case nil: "documents do not expire by a rule"
      case .after(let duration): "documents expire \(seconds(duration)) after their last write"
      case .field(let path, .zero): "documents expire at the date in \(path)"
      case .field(let path, let duration):
        "documents expire \(seconds(duration)) after the date in \(path)"
      }
    }

    private static func seconds(_ duration: Duration) -> String {
      let (whole, rest) = duration.components
      return rest == 0 ? "\(whole) s" : "\(Double(whole) + Double(rest) * 1e-18) s"
    }
  }

  struct Sweep: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete the documents that have expired.",
      discussion: "Stores that are open do so by themselves.")

    @OptionGroup var database: DatabaseOptions

    func run() throws {
      let count = try database.withStore(.changing) { try $0.deleteExpired() }
      try Output.run { try $0.line("deleted \(Quantity.documents(count))") }
    }
  }
}
