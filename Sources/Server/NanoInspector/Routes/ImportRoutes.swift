// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
package import NanoServer
import NanoStoreCore

/// Imports, which ``InspectorOptions/allowsWrites`` allows.
extension Inspector {
  package func upload(for request: ServerRequest) -> ServerUpload? {
    guard request.path == ["api", "import"], options.allowsWrites else { return nil }
    return { body in
      do {
        let wire = try await importFile(body, request)
        return ServerResponse(contentType: "application/json", body: wire.json)
      } catch {
        return WireError.response(error)
      }
    }
  }

  /// Receives a file completely, and then imports it in one transaction, so that other writers do not wait for the
  /// client.
  private func importFile(_ body: ServerUploadBody, _ request: ServerRequest) async throws -> Wire {
    let collection = store[try request.required("in")]
    var options = ImportOptions()
    switch request["format"] ?? "json" {
    case "json": options.format = .json
    case "csv": options.format = .csv()
    case "tsv": options.format = .tsv
    default: throw RouteError.invalid("format", "json, csv or tsv")
    }
    options.keyField = request["key"].map { FieldPath($0) }
    options.replacesDocuments = request["replace"] == "true"
    options.skipsInvalidRecords = request["skip"] == "true"
    let transfer = try transfers.add(request["id"])
    return try await transfer.run {
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      let file = folder.url.appending(path: "upload")
      try transfer.begin("receiving", total: body.length)
      try await Self.receive(body, file, transfer)
      try transfer.begin("importing")
      let report = try await collection.importDocuments(from: file, options: options) { report in
        try transfer.report(
          done: report.bytesRead, total: report.totalBytes, documents: report.documents)
      }
      return [
        "documents": .int(report.documents), "skipped": .int(report.skipped),
        "errors": .array(
          report.skippedRecords.prefix(Self.maximumErrors).map { WireError.wire($0) }),
      ]
    }
  }

  /// The number of errors of skipped records that are listed; arbitrary.
  private static let maximumErrors = 20

  private static func receive(
    _ body: ServerUploadBody, _ file: URL, _ transfer: Transfer
  ) async throws {
    let handle = try TemporaryFolder.explaining {
      try Data().write(to: file, options: .withoutOverwriting)
      return try FileHandle(forWritingTo: file)
    }
    defer { try? handle.close() }
    var received = 0
    while let part = try await body.next() {
      try TemporaryFolder.explaining { try handle.write(contentsOf: Data(part)) }
      received += part.count
      try transfer.report(done: received)
    }
    // A body may end without an error when its task is canceled, and is then incomplete.
    try Task.checkCancellation()
    if let length = body.length, received < length { throw CancellationError() }
  }
}
