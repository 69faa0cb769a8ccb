// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import HTTPTypes
import NanoDocument
import NanoSync

// `_changes`.
extension SyncHandler {
  func changes(_ access: Access) async throws -> SyncResponse {
    try access.call.require("GET", "POST")
    let request = try ChangesRequest(access.request, access.visibility)
    let (rules, user, served) = (access.rules, access.user, access.served)
    let reader = ChangeReader(
      served: served, request: request, filter: try await filter(access),
      mayRead: {
        // A database that cannot be read now delivers no changes either.
        if let security = try? await served.recentSecurity(), !security.admits(user) {
          return false
        }
        return (try? await rules.canRead(user, served.name)) ?? false
      })
    switch request.feed {
    case .normal:
      return request.isDescending
        ? try await descending(reader, access) : try await normal(reader, access)
    case .longpoll: return try await longpoll(reader)
    case .continuous: return continuous(reader, isEventSource: false)
    case .eventsource: return continuous(reader, isEventSource: true)
    }
  }

  /// The entity tag of a normal feed: it changes with each change of the database.
  private func tag(_ last: RevisionChange.Sequence, _ access: Access) -> String {
    var hash = Insecure.MD5()
    hash.update(data: Data(last.description.utf8))
    hash.update(data: Data("\(access.user)".utf8))
    for parameter in access.request.parameters {
      hash.update(data: Data("&\(parameter.name)=\(parameter.value)".utf8))
    }
    return "\"\(Data(hash.finalize()).base64EncodedString())\""
  }

  private func normal(_ reader: ChangeReader, _ access: Access) async throws -> SyncResponse {
    let last = try await reader.served.lastSequence()
    let tag = tag(last, access)
    if access.request.verb == "GET", access.request.hasCopy(tag) { return .notModified(tag) }
    var headers: HTTPFields = [:]
    headers[.eTag] = tag
    let start = try await reader.start()
    let limit = reader.request.limit
    guard limit > 0 else {
      let text = start?.description ?? "0"
      let pending = try await reader.pending(after: start)
      return .json(
        Array("{\"results\":[],\"last_seq\":\"\(text)\"\(pending)}".utf8), headers: headers)
    }
    // The first page is read before the response begins, so that its errors are reported.
    let first = try await reader.page(since: start, limit: limit)
    let maximumSilence = configuration.maximumSilence
    return .stream(headers: headers) { write in
      var output = Array("{\"results\":[\n".utf8)
      var silence = SilenceClock(reader.request, maximumSilence)
      var page = first
      var count = 0
      while true {
        for row in page.rows {
          if count > 0 { output += ",\n".utf8 }
          output += row.json
          count += 1
        }
        if page.rows.isEmpty, silence.isOver() { output.append(UInt8(ascii: "\n")) }
        if !output.isEmpty {
          try await write(output)
          silence.restart()
          output = []
        }
        guard page.hasMore, count < limit else { break }
        page = try await reader.page(since: page.last, limit: limit - count)
      }
      let pending = try await reader.pending(after: page)
      try await write(Array("\n],\n\"last_seq\":\"\(page.last)\"\(pending)}\n".utf8))
    }
  }

  /// The newest changes first. The feed has one direction, so that the positions of all are read.
  private func descending(_ reader: ChangeReader, _ access: Access) async throws -> SyncResponse {
    var since = try await reader.start()
    var changes: [RevisionChange] = []
    while true {
      let position = since
      let page = try await reader.served.run { try $0.changes(since: position, limit: 1_000) }
      changes += page.changes
      since = page.last
      guard page.hasMore else { break }
    }
    let (all, limit) = (Array(changes.reversed()), reader.request.limit)
    let last = since?.description ?? "0"
    let maximumSilence = configuration.maximumSilence
    return .stream { write in
      try await write(Array("{\"results\":[\n".utf8))
      var silence = SilenceClock(reader.request, maximumSilence)
      var (count, at) = (0, 0)
      while count < limit, at < all.count {
        let slice = all[at..<min(at + 250, all.count)].filter { reader.filter.accepts($0.id) }
        at += 250
        var output: [UInt8] = []
        for row in try await reader.rows(slice) where count < limit {
          if count > 0 { output += ",\n".utf8 }
          output += row.json
          count += 1
        }
        if output.isEmpty, silence.isOver() { output.append(UInt8(ascii: "\n")) }
        if !output.isEmpty {
          try await write(output)
          silence.restart()
        }
      }
      // Those that the limit cuts off are older than the position, and are not counted.
      let pending = count < limit ? ChangeReader.nonePending : ""
      try await write(Array("\n],\n\"last_seq\":\"\(last)\"\(pending)}\n".utf8))
    }
  }
}
