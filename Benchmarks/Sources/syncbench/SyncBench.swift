// SPDX-License-Identifier: MIT

import ArgumentParser
import BenchmarkKit
import Foundation

@main
struct SyncBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "syncbench",
    abstract: "Measures synchronization through a server on the same machine.",
    discussion: """
      For each number of documents, one process pushes them to an empty server and another pulls them into an empty \
      store, so that each has its own peak of memory. The delay of an edit and the cost of a commit are measured after that.
      """)

  @Argument(help: "The server's program, nanostore-server.")
  var server: String

  @Option(help: "The numbers of documents.")
  var documents: [Int] = [100_000, 1_000_000]

  @Option(help: "Megabytes of an attachment that is transferred.")
  var attachment = 2_000

  @Option(help: "Edits whose delay is measured.")
  var edits = 200

  @Option(help: "Rounds of 500 commits in each collection.")
  var rounds = 15

  @Option(help: "Write the Markdown tables to this file.")
  var markdown: String?

  @Option(help: .hidden)
  var step: TransferStep?

  @Option(help: .hidden)
  var file = ""

  func run() async throws {
    if let step {
      return print(try await step.run(server, file, documents[0]).line)
    }
    let folder = try Folder.temporary()
    var columns: [SizeColumn] = []
    for count in documents {
      let column = try await SizeColumn.measure(count, server: server, in: folder)
      print(column.cells.joined(separator: "  "))
      columns.append(column)
    }
    let attached = try await AttachmentTransfer.measure(attachment, server: server, in: folder)
    print(attached.table)
    let commits = try await CommitCost.measure(rounds, in: folder)
    let delays = try await EditDelay.measure(edits, server: server, in: folder)
    try folder.remove()
    let report = """
      \(SizeColumn.table(columns))

      \(attached.table)

      \(Table(header: ["", "median", "95 %", "most"], rows: [delays.cells]).markdown)

      \(CommitCost.table(commits))

      Documents of \(Sample.bytes) bytes of JSON; client and server on the same machine, \
      \(ProcessInfo.processInfo.activeProcessorCount) processors, \
      \(ProcessInfo.processInfo.operatingSystemVersionString).

      """
    print(report)
    if let markdown { try Data(report.utf8).write(to: URL(filePath: markdown)) }
  }
}
