// SPDX-License-Identifier: MIT

public import ArgumentParser
public import NanoStore

struct IndexPolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Show or say what of a collection is indexed.",
    discussion: """
      With everything, each value of each document is indexed, so that a search by value over any \
      field is a look-up; writes cost several times as much. With declared, which is where a \
      collection begins, only the indexes that were made are there. Answers are the same.
      """)

  @OptionGroup var place: CollectionOptions

  @Argument(help: "What is to be indexed: declared or everything; shown if missing.")
  var policy: IndexingPolicy?

  func run() throws {
    guard let policy else { return try show() }
    let line = ProgressLine()
    try place.withExistingCollection { collection in
      defer { line.clear() }
      try collection.setIndexing(policy) { line.show($0, "indexed") }
    }
    try Output.run { output in
      let what =
        switch policy {
        case .everything: "every value is indexed"
        case .declared: "only the indexes that were made are kept"
        }
      try output.line(TerminalText.text("\(place.collection): \(what)"))
    }
  }

  private func show() throws {
    try place.withCollection(.reading) { collection in
      let policy = try collection.indexing()
      try Output.run { try $0.line(policy.rawValue) }
    }
  }
}

extension IndexingPolicy: ExpressibleByArgument {}

struct IndexRebuildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild",
    abstract: "Make every index of a collection anew.",
    discussion: """
      As may be wanted where verify found that an index differs from the documents, or where other \
      programs wrote much.
      """)

  @OptionGroup var place: CollectionOptions

  func run() throws {
    let line = ProgressLine()
    try place.withExistingCollection { collection in
      defer { line.clear() }
      try collection.rebuildIndexes { line.show($0, "indexed") }
    }
    try Output.run {
      try $0.line(TerminalText.text("made the indexes of \(place.collection) anew"))
    }
  }
}
