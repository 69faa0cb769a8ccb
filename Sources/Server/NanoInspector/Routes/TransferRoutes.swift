// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
package import NanoServer
import NanoStoreCore

/// Downloads: backups, exports and attachments. None of them changes the store.
extension Inspector {
  package func download(for request: ServerRequest) async -> ServerDownload? {
    guard request.path.count == 2, request.path[0] == "api" else { return nil }
    do {
      switch request.path[1] {
      case "backup": return try backup(request)
      case "export": return try export(request)
      case "attachment": return try await attachment(request)
      default: return nil
      }
    } catch {
      return ServerDownload(WireError.response(error))
    }
  }

  /// The progress of a backup, export or import.
  func progress(of request: ServerRequest) throws -> Wire {
    try transfers.find(request.required("id")).wire
  }

  func cancelTransfer(_ request: ServerRequest) throws -> Wire {
    try transfers.find(request.required("id")).cancel()
    return ["canceled": true]
  }

  /// Copies the store to a temporary file, and sends it. The file is deleted before it is sent.
  private func backup(_ request: ServerRequest) throws -> ServerDownload {
    let name = store.file.map { NSString(string: $0).lastPathComponent } ?? "store.db"
    let transfer = try transfers.add(request["id"])
    return ServerDownload(contentType: Self.binary, fileName: "Backup of \(name)") {
      [store] write in
      try await transfer.run {
        try transfer.begin("copying", total: 1000)
        let file = try await Self.copy(of: store, transfer)
        defer { try? file.close() }
        let size = try Int(file.seekToEnd())
        try file.seek(toOffset: 0)
        try transfer.begin("sending", total: size)
        var sent = 0
        while let part = try file.read(upToCount: Self.partSize), !part.isEmpty {
          try await write(Array(part))
          sent += part.count
          try transfer.report(done: sent)
        }
      }
    }
  }

  /// Returns a backup as an open file that has no name, so that it vanishes with the process.
  private static func copy(of store: Store, _ transfer: Transfer) async throws -> FileHandle {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.url.appending(path: "copy").path
    try await store.backup(to: path) { try transfer.report(done: Int($0 * 1000)) }
    return try TemporaryFolder.explaining {
      try FileHandle(forReadingFrom: URL(filePath: path))
    }
  }

  /// The type of files that browsers save and do not show, whatever they contain.
  private static let binary = "application/octet-stream"
  private static let partSize = 1 << 18

  /// Sends the documents that match a condition as a file, from one snapshot.
  private func export(_ request: ServerRequest) throws -> ServerDownload {
    let collection = store[try request.required("in")]
    let query = try request.query(in: collection)
    let (format, ending): (ExportFormat, String) =
      switch request["format"] ?? "ndjson" {
      case "ndjson": (.ndjson(), "ndjson")
      case "json": (.json(), "json")
      case "csv": (.csv(), "csv")
      default: throw RouteError.invalid("format", "ndjson, json or csv")
      }
    let transfer = try transfers.add(request["id"])
    return ServerDownload(contentType: Self.binary, fileName: "\(collection.name).\(ending)") {
      write in
      try await transfer.run {
        try transfer.begin("exporting")
        let total = try await query.count()
        try transfer.report(done: 0, total: total, documents: 0)
        try await Self.send(query, format, transfer, write)
      }
    }
  }

  private static func send(
    _ query: DocumentQuery, _ format: ExportFormat, _ transfer: Transfer,
    _ write: ServerDownload.Write
  ) async throws {
    let channel = ByteChannel()
    transfer.whenCanceled { channel.close() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        do {
          try await query.export(
            as: format,
            progress: { try transfer.report(done: $0.documents, documents: $0.documents) },
            to: { try channel.send(Array($0)) })
          channel.finish()
        } catch {
          channel.finish(throwing: error)
        }
      }
      // Wakes the export if the client has gone.
      defer { channel.close() }
      for try await part in channel.bytes {
        try await write(part)
        channel.taken()
      }
      // A stream ends without an error when its task is canceled.
      try Task.checkCancellation()
    }
  }

  private func attachment(_ request: ServerRequest) async throws -> ServerDownload {
    guard let rowID = try Int64(request.required("rowID")) else {
      throw RouteError.invalid("rowID", "a row ID")
    }
    let name = try request.required("name")
    let attachments = store[try request.required("in")].attachments(ofRowID: rowID)
    guard let found = try await attachments.get(name) else {
      throw RouteError.missing("The attachment")
    }
    let length = try await store.storedLength(of: found)
    // The stored type is data, and could be one that a browser executes.
    return ServerDownload(contentType: Self.binary, fileName: name, length: Int(length)) {
      [store] write in
      // Not by name, which may have other content by now.
      for try await part in store.stream(of: found) { try await write(Array(part)) }
    }
  }
}
