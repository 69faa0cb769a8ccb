// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check the integrity of the file, documents, indexes and path catalog.",
    discussion: "Prints one line per problem; the exit status is 1 if there are any.")

  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let problems = try database.withStore(.reading) { try $0.verify() }
    try Output.run { output in
      for problem in problems {
        try output.line(TerminalText.text("\(problem.subject): \(problem.message)"))
      }
      if problems.isEmpty { try output.line("no problems") }
    }
    if !problems.isEmpty {
      let count = problems.count == 1 ? "1 problem" : "\(Quantity.count(problems.count)) problems"
      throw CommandFailure(message: "verify found \(count)")
    }
  }
}

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Return unused space to the file system.",
    discussion: "Temporarily requires free disk space equal to the size of the file.")

  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let (before, after) = try database.withStore(.changing) { store in
      let before = try store.statistics().size
      try store.compact()
      return (before, try store.statistics().size)
    }
    try Output.run {
      try $0.line("compacted from \(Quantity.bytes(before)) to \(Quantity.bytes(after))")
    }
  }
}

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy a snapshot of the database while it is in use.",
    discussion: "The copy is atomic: on failure, no partial file remains.")

  @OptionGroup var database: DatabaseOptions

  @OptionGroup var new: NewFileOptions

  func run() throws {
    let line = ProgressLine()
    try database.withStore(.reading) { store in
      defer { line.clear() }
      try new.create {
        try store.backup(to: $0, replacing: $1) { done in line.show(done, "copied") }
      }
    }
    try Output.run { try $0.line(TerminalText.text("copied to \(new.destination)")) }
  }
}

struct StatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Print sizes, counts and settings.")

  @OptionGroup var database: DatabaseOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let statistics = try database.withStore(.reading) { try $0.statistics() }
    try Output.run { output in
      guard !json else { return try Self.writeJSON(statistics, to: output) }
      func line(_ name: String, _ value: String) throws {
        let padding = String(repeating: " ", count: max(2, 16 - DisplayWidth.of(name)))
        try output.line(name + padding + value)
      }
      try line("engine", statistics.engine)
      try line("size", Quantity.bytes(statistics.size))
      try line("unused", Quantity.bytes(statistics.unused))
      for collection in statistics.collections {
        let indexes = collection.indexes == 1 ? "1 index" : "\(collection.indexes) indexes"
        try line(
          TerminalText.text(collection.name),
          "\(Quantity.documents(collection.documents)), \(indexes)"
        )
      }
      for (name, value) in statistics.settings.sorted(by: { $0.key < $1.key }) {
        try line(name, value)
      }
    }
  }

  private static func writeJSON(_ statistics: EngineStatistics, to output: Output) throws {
    let collections = statistics.collections.map { collection in
      DocumentValue.object([
        "name": .string(collection.name), "documents": .int(Int64(collection.documents)),
        "indexes": .int(Int64(collection.indexes)),
      ])
    }
    let settings = statistics.settings.sorted { $0.key < $1.key }
    let object: DocumentObject = [
      "engine": .string(statistics.engine), "size": .int(Int64(statistics.size)),
      "unused": .int(Int64(statistics.unused)), "collections": .array(collections),
      "settings": .object(DocumentObject(settings.map { ($0.key, .string($0.value)) })),
    ]
    try output.line(TerminalText.json(object.jsonString(pretty: true)))
  }
}
