// SPDX-License-Identifier: MIT

#if LegacyImport
  import ArgumentParser
  import Foundation
  import NanoStoreLegacy

  /// The schema and the passphrase of an old store, which both commands take.
  struct LegacyOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "A JSON file that describes the classes of a BNRPersistence store.", valueName: "file"),
      completion: .file())
    var schema: String?

    @Option(
      help: ArgumentHelp(
        "A file that contains the passphrase of a BNRPersistence store.", valueName: "file"),
      completion: .file())
    var passwordFile: String?

    // Declared so that the parser accepts it; FailureReport reads it.
    @Flag(help: .hidden)
    var debug = false

    /// Returns the options with the contents of the files.
    func read() throws -> LegacyImportOptions {
      var options = LegacyImportOptions()
      options.schema = try schema.map { try BNRSchema(json: Self.text(of: $0)) }
      // An editor ends the file with a line break, which is not part of the passphrase.
      options.passphrase = try passwordFile.map { path in
        var text = try Self.text(of: path)[...]
        if text.utf8.last == UInt8(ascii: "\n") || text.last == "\r\n" { text.removeLast() }
        return String(text)
      }
      return options
    }

    private static func text(of path: String) throws -> String {
      do {
        return try String(contentsOf: LegacyPath.url(path), encoding: .utf8)
      } catch {
        throw CommandFailure(
          message: TerminalText.text("The file cannot be read, or is not UTF-8: \(path)"))
      }
    }
  }

  /// Paths of arguments.
  enum LegacyPath {
    static func url(_ path: String) -> URL {
      URL(fileURLWithPath: NSString(string: path).expandingTildeInPath)
    }
  }

  struct InspectLegacyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "inspect-legacy",
      abstract: "Print what a store of an older library contains.",
      discussion: """
        Recognizes SQLite files of NanoStore for Objective-C and of NTJsonStore, and folders of \
        BNRPersistence. Nothing is written.
        """)

    @Argument(help: "The file or folder.", completion: .file())
    var path: String

    @OptionGroup var legacy: LegacyOptions

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func run() throws {
      let summary = try LegacyStore.inspect(LegacyPath.url(path), options: legacy.read())
      try Output.run { output in
        guard !json else {
          return try output.line(
            TerminalText.json(try DocumentObject(encoding: summary).jsonString(pretty: true)))
        }
        try output.line("\(summary.kind.rawValue), version \(summary.version)")
        for one in summary.classes {
          let target = one.collection.map { ", imported into \($0)" } ?? ""
          try output.line(
            TerminalText.text("\(one.name): \(LegacyText.records(one.records))\(target)"))
        }
        for note in summary.notes { try output.line(TerminalText.text("note: \(note)")) }
      }
    }
  }

  struct ImportLegacyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import-legacy",
      abstract: "Import a store of an older library.",
      discussion: """
        Imports SQLite files of NanoStore for Objective-C and of NTJsonStore, and folders of \
        BNRPersistence. The old store is only read. If it is damaged, everything that can be read is \
        imported, and the rest is listed with the reason.

        Everything is stored in one transaction: after an error, the database is unchanged. With \
        --resumable, the import is committed in parts, and the same command resumes it after an \
        interruption.
        """)

    @Argument(help: "The file or folder of the old store.", completion: .file())
    var path: String

    @Argument(
      help: "The database: a file, or a postgresql:// URL; created if it does not exist.",
      completion: .file())
    var database: String

    @OptionGroup var legacy: LegacyOptions

    @Option(
      help: ArgumentHelp("The collection for the documents of a NanoStore file.", valueName: "name")
    )
    var collection = LegacyImportOptions().collection

    @Option(
      help: ArgumentHelp(
        "The time zone of the device that wrote a NanoStore file, such as Europe/Paris; by default the current one.",
        valueName: "zone"))
    var timeZone: String?

    @Option(
      help: "What happens to existing documents with the same keys: fail, replace or skip.",
      transform: Self.existingDocuments)
    var existing = LegacyImportOptions.ExistingDocuments.fail

    private static func existingDocuments(
      _ text: String
    ) throws -> LegacyImportOptions.ExistingDocuments {
      guard let choice = LegacyImportOptions.ExistingDocuments(rawValue: text) else {
        throw ValidationError("--existing must be fail, replace or skip")
      }
      return choice
    }

    @Flag(help: "Rebuild unreadable documents of a NanoStore file from its table of values.")
    var rebuild = false

    @Flag(help: "Commit in parts, and resume an import that was interrupted.")
    var resumable = false

    @Flag(help: "Print the report as JSON.")
    var json = false

    /// The number of skipped records that are listed for each class; arbitrary, to keep the messages readable.
    private static let shownFailures = 10

    func run() throws {
      var options = try legacy.read()
      options.collection = collection
      options.existing = existing
      options.rebuildsFromIndex = rebuild
      options.isResumable = resumable
      if let timeZone {
        guard let zone = TimeZone(identifier: timeZone) else {
          throw ValidationError("--time-zone '\(timeZone)' is not the name of a time zone")
        }
        options.timeZone = zone
      }
      // Inspected before the database is opened, so that a wrong file does not create an empty database.
      _ = try LegacyStore.inspect(LegacyPath.url(path), options: options)
      let line = ProgressLine()
      let report = try StoreLocation.withStore(
        at: database, resumable ? .creating : .loading
      ) { store in
        defer { line.clear() }
        return try store.importLegacy(from: LegacyPath.url(path), options: options) { progress in
          let name = progress.className.map { "\($0), " } ?? ""
          line.show(
            progress.fraction, TerminalText.text(name) + Quantity.documents(progress.imported))
        }
      }
      try Output.run { output in
        guard !json else {
          return try output.line(
            TerminalText.json(try DocumentObject(encoding: report).jsonString(pretty: true)))
        }
        try write(report, line.elapsed, to: output)
      }
    }

    /// Returns `imported 9 into objects, skipped 1`.
    private static func outcome(_ result: LegacyImportReport.Class) -> String {
      let target = result.collection.map { " into \($0)" } ?? ""
      let skipped = "skipped \(Quantity.count(result.skipped))"
      // Named values are counted as a whole.
      if result.imported == 0, result.collection == nil {
        return result.skipped == 0 ? "converted" : skipped
      }
      let imported = "imported \(Quantity.count(result.imported))\(target)"
      return result.skipped == 0 ? imported : "\(imported), \(skipped)"
    }

    private func write(_ report: LegacyImportReport, _ seconds: Double, to output: Output) throws {
      for one in report.classes {
        try output.line(TerminalText.text("\(one.name): \(Self.outcome(one))"))
        for (kind, count) in one.conversions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          try output.line("  \(kind.rawValue): \(Quantity.count(count))")
        }
        for skipped in one.skippedRecords.prefix(Self.shownFailures) {
          let key = skipped.key.map { " (\($0))" } ?? ""
          try output.line(
            TerminalText.text("  skipped: \(skipped.position)\(key): \(skipped.reason)"))
        }
        if one.skipped > Self.shownFailures {
          try output.line("  --json lists more of the skipped records")
        }
      }
      for note in report.notes { try output.line(TerminalText.text("note: \(note)")) }
      let values = report.metadata == 0 ? "" : " and \(LegacyText.values(report.metadata))"
      let resumed = report.isResumed ? ", including those of the interrupted import" : ""
      try output.line(
        "imported \(LegacyText.records(report.imported))\(values)\(resumed) in "
          + "\(Quantity.duration(seconds)) (\(Quantity.rate(report.imported, seconds)))")
    }
  }

  enum LegacyText {
    static func records(_ count: Int) -> String {
      count == 1 ? "1 record" : "\(Quantity.count(count)) records"
    }
    static func values(_ count: Int) -> String {
      count == 1 ? "1 named value" : "\(Quantity.count(count)) named values"
    }
  }
#endif
