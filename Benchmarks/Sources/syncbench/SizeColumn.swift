// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// The transfers of one number of documents.
struct SizeColumn {
  var count: Int
  var push: TransferResult
  var pull: TransferResult
  var direct: TransferResult
  /// The server's memory in kilobytes.
  var server: Int?

  static func measure(_ count: Int, server program: String, in folder: Folder) async throws -> Self
  {
    let server = try await ServerProcess(program, file: folder.file("server\(count).db"))
    defer { server.stop() }
    let (first, second) = (folder.file("a\(count).db"), folder.file("b\(count).db"))
    let third = folder.file("c\(count).db")
    _ = try TransferStep.fill.inProcess(server.url, first, count)
    _ = try TransferStep.fill.inProcess(server.url, third, count)
    let push = try TransferStep.push.inProcess(server.url, first, count)
    let pull = try TransferStep.pull.inProcess(server.url, second, count)
    let direct = try TransferStep.direct.inProcess(server.url, third, count)
    return Self(count: count, push: push, pull: pull, direct: direct, server: server.peak)
  }

  var cells: [String] {
    [
      seconds(push), seconds(pull), seconds(direct), MemoryWatch.text(push.kilobytes),
      MemoryWatch.text(pull.kilobytes), MemoryWatch.text(server),
      String(format: "%.0f bytes", Double(push.bytes) / Double(count)),
      String(format: "%.0f bytes", Double(pull.bytes) / Double(count)),
    ]
  }

  private func seconds(_ result: TransferResult) -> String {
    String(format: "%.1f s", result.seconds)
  }

  private static let labels = [
    "first push to a server", "first pull into an empty store", "into another store of the process",
    "most memory of the device that pushes", "of the device that pulls", "of the server",
    "revisions in the file, per document: device that pushed", "device that pulled",
  ]

  static func table(_ columns: [Self]) -> String {
    Table(
      header: [""]
        + columns.map {
          "\($0.count.formatted(.number.locale(Locale(identifier: "en")))) documents"
        },
      rows: labels.indices.map { row in [labels[row]] + columns.map { $0.cells[row] } }
    ).markdown
  }
}
