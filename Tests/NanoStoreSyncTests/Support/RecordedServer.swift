// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSync

/// Answers as CouchDB 3.5 answered to other clients.
struct RecordedServer: Sendable {
  let exchanges: [DocumentObject]

  init(_ name: String) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = try Data(contentsOf: folder.appending(path: "Fixtures/\(name).json"))
    exchanges = try SyncJSON.value(Array(data)).array?.compactMap(\.object) ?? []
  }

  /// Returns the recorded answer; that of a missing document if there is none.
  func answer(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
    if request.path.hasSuffix("/_bulk_get") { return bulk(request) }
    let exchange = exchanges.first { exchange in
      exchange["method"]?.string == request.method && exchange["path"]?.string == request.path
        && ["since", "rev"].allSatisfy { name in
          exchange["query"]?.object?[name]?.string == request.query[name]
        }
        && (request.body.isEmpty || exchange["requestBody"]?.object == request.json)
    }
    guard let exchange, let status = exchange["status"]?.int64 else { return .missing }
    var headers: [String: String] = [:]
    for (name, value) in exchange["responseHeaders"]?.object ?? [:]
    where !["Content-Length", "Transfer-Encoding"].contains(name) {
      headers[name] = value.string
    }
    return .answer(Int(status), Self.body(exchange), headers)
  }

  private static func body(_ exchange: DocumentObject) -> [UInt8] {
    let body = exchange["responseBody"] ?? .null
    if let text = body.object?["$base64"]?.string {
      return Array(Data(base64Encoded: text) ?? Data())
    }
    return exchange["responseText"]?.string.map { Array($0.utf8) } ?? SyncJSON.bytes(body)
  }

  /// All rows of recorded answers, by ID and revision.
  var revisions: [DocumentObject] {
    exchanges.filter { $0["path"]?.string?.hasSuffix("/_bulk_get") ?? false }.flatMap {
      $0["responseBody"]?.object?["results"]?.array?.compactMap(\.object) ?? []
    }
  }

  /// Other clients asked for the same revisions in other requests.
  private func bulk(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
    let rows = request.json["docs"]?.array?.compactMap(\.object) ?? []
    let answers = rows.map { row in
      let recorded = revisions.first { recorded in
        recorded["id"] == row["id"]
          && recorded["docs"]?.array?.first?.object?["ok"]?.object?["_rev"] == row["rev"]
      }
      return recorded.map { DocumentValue.object($0) } ?? ["id": row["id"] ?? "", "docs": []]
    }
    return .answer(200, SyncJSON.bytes(DocumentValue.object(["results": .array(answers)])))
  }
}
