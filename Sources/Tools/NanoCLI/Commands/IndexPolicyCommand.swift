// SPDX-License-Identifier: MIT

public import ArgumentParser
public import NanoStore

struct IndexPolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Print or set the indexing policy of a collection.",
    discussion: """
      The policy everything indexes every value of every document, so that a search by value over \
      any field is an index lookup; writes cost several times as much. The policy declared, the \
      default, keeps only the indexes that were created. Query results are the same.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The policy, declared or everything; if omitted, prints the current policy.")
  var policy: IndexingPolicy?

  func run() throws {
    guard let policy else { return try show() }
    let line = ProgressLine()
    try target.withExistingCollection { collection in
      defer { line.clear() }
      try collection.setIndexing(policy) { line.show($0, "indexed") }
    }
    try Output.run { output in
      let effect =
        switch policy {
        case .everything: "every value is indexed"
        case .declared: "only created indexes are kept"
        }
      try output.line(TerminalText.text("\(target.collection): \(effect)"))
    }
  }

  private func show() throws {
    try target.withCollection(.reading) { collection in
      let policy = try collection.indexing()
      try Output.run { try $0.line(policy.rawValue) }
    }
  }
}

extension IndexingPolicy: ExpressibleByArgument {}

struct IndexRebuildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild",
    abstract: "Rebuild all indexes of a collection.",
    discussion: """
      Run this if verify reports an index that does not match the documents, or after other \
      programs wrote many rows.
      """)

  @OptionGroup var target: CollectionOptions

  func run() throws {
    let line = ProgressLine()
    try target.withExistingCollection { collection in
      defer { line.clear() }
      try collection.rebuildIndexes { line.show($0, "indexed") }
    }
    try Output.run { try $0.line(TerminalText.text("rebuilt the indexes of \(target.collection)")) }
  }
}
