// SPDX-License-Identifier: MIT

package import Foundation
import NanoDocument
package import NanoStoreCore

/// Transfers changes of a peer into a database.
struct Puller: Sendable {
  let session: ReplicationSession
  private var options: ReplicationOptions { session.options }
  private var database: SyncDatabase { session.database }
  private var peer: any SyncPeer { session.peer }

  /// Pulls until there is nothing left, or until the task is canceled if the replication is continuous.
  func run() async throws {
    let checkpoint = try session.checkpointID(.pull)
    var position = try await session.resume(checkpoint, .pull)
    var saves: Int64 = 0
    var retries = try await session.retries(checkpoint)
    var portion = Portion(bytes: options.batchBytes)
    try await retry(&retries, &portion)
    try await resolveConflicts(nil)
    var page = try await page(since: position, waits: false)
    try await withThrowingTaskGroup(of: Void.self) { finishing in
      while true {
        // The next page is on its way while this one is processed.
        let current = page
        let wanted = current.wanted.compactMap(\.first?.id)
        async let next: Page? =
          current.hasMore ? self.page(since: current.last, waits: false) : nil
        if current.ids.isEmpty {
          session.report { $0.total = max($0.total, $0.done + current.pending) }
        } else {
          session.begin(.pull, current.ids, tried: wanted, pending: current.pending)
        }
        let failed = try await pull(current.wanted, &portion)
        try await session.update(&retries, of: current.ids, failed, .pull)
        session.report { $0.done += current.ids.count }
        let isMoved = current.last != position
        if isMoved { saves += 1 }
        position = current.last
        // Meanwhile, the next page is stored. One page is finished after another.
        try await finishing.next()
        finishing.addTask { [saves] in
          try await resolveConflicts(of: current.ids, received: wanted)
          if isMoved {
            try await session.save(
              checkpoint, .pull, current.last, count: saves, hasChanges: !current.ids.isEmpty)
          }
        }
        if let following = try await next {
          page = following
          continue
        }
        try await finishing.waitForAll()
        session.rest(.pull)
        guard options.isContinuous else { return }
        page = try await self.page(since: current.last, waits: true)
      }
    }
  }

  /// Changes, and the revisions of them that the database lacks.
  private struct Page: Sendable {
    var ids: [String]
    /// Those of one document together.
    var wanted: [[WantedRevision]]
    var last: String
    var hasMore: Bool
    var pending: Int
  }

  private func page(since position: String?, waits: Bool) async throws -> Page {
    let changes = try await peer.changes(
      since: position, limit: options.batchDocuments, filter: options.pullFilter, waits: waits)
    return Page(
      ids: changes.changes.map(\.id), wanted: try await wanted(changes.changes),
      last: changes.last, hasMore: changes.hasMore, pending: changes.pending ?? 0)
  }

  /// The number of documents in a request for changes of certain ones. Arbitrary.
  private static let idsPerRequest = 100

  /// The selector of the documents that are pulled; nil if there is none, or only the peer understands it.
  private var selector: Selector? {
    guard case .selector(let selector) = options.pullFilter else { return nil }
    return try? Selector(.object(selector))
  }

  /// Tries the documents again that could not be stored before. By now, the selector may no longer match.
  private func retry(_ retries: inout RetryList, _ portion: inout Portion) async throws {
    let ids = retries.entries.ids.sorted()
    for start in stride(from: 0, to: ids.count, by: Self.idsPerRequest) {
      let some = Array(ids[start...].prefix(Self.idsPerRequest))
      session.again(some, .pull)
      let page = try await peer.changes(
        since: nil, limit: some.count, filter: .ids(some), waits: false)
      let wanted = try await wanted(page.changes)
      let failed = try await pull(wanted, &portion, matching: selector)
      try await session.update(&retries, of: some, failed, .pull)
      try await resolveConflicts(of: some, received: wanted.compactMap(\.first?.id))
    }
  }

  /// Returns the revisions that the database lacks, in the order of the changes. Those of one document are requested and
  /// stored together: a merged version without the deletion of what it contains would be merged once more.
  private func wanted(_ changes: [PeerChange]) async throws -> [[WantedRevision]] {
    guard !changes.isEmpty else { return [] }
    var asked = IDMap<[RevisionID]>()
    for change in changes { asked[change.id, default: []] += change.revisions }
    let revisions = asked
    var missing = try await session.local { try $0.missingRevisions(revisions) }
    return changes.compactMap { change in
      guard let found = missing[change.id] else { return nil }
      missing[change.id] = nil
      return found.missing.map {
        WantedRevision(id: change.id, revision: $0, ancestors: found.ancestors)
      }
    }
  }

  /// Pulls revisions, and returns the documents that were not stored, with the reason.
  ///
  /// - Parameter selector: Revisions that do not match it are left out.
  private func pull(
    _ wanted: [[WantedRevision]], _ portion: inout Portion, matching selector: Selector? = nil
  ) async throws -> IDMap<String> {
    var failed = IDMap<String>()
    // Several requests at a time; what arrives is stored in the order of arrival.
    try await withThrowingTaskGroup(of: Fetched.self) { group in
      var rest = wanted[...]
      func request() {
        var some: [WantedRevision] = []
        while let next = rest.first, some.isEmpty || some.count + next.count <= portion.count {
          some += next
          rest.removeFirst()
        }
        guard !some.isEmpty else { return }
        group.addTask { [some] in try await fetch(some, matching: selector) }
      }
      var requests = 0
      while requests < options.requests, !rest.isEmpty {
        request()
        requests += 1
      }
      while let fetched = try await group.next() {
        portion.note(fetched.documents)
        request()
        for (id, reason) in fetched.failures { failed[id] = reason }
        for (id, reason) in try await store(fetched.documents) { failed[id] = reason }
      }
    }
    for (id, reason) in failed { session.fail(id, .pull, reason, isRetried: true) }
    return failed
  }

  private struct Fetched: Sendable {
    var documents: [SyncDocument] = []
    var failures = IDMap<String>()
  }

  private func fetch(
    _ wanted: [WantedRevision], matching selector: Selector?
  ) async throws -> Fetched {
    var result = Fetched()
    var asked = IDMap<Set<RevisionID>>()
    for revision in wanted { asked[revision.id, default: []].insert(revision.revision) }
    for revision in try await peer.revisions(wanted) {
      switch revision {
      case .missing: continue
      case .invalid(let id, _, let error): result.failures[id] = error.message
      case .document(let wire):
        // A newer one, which some peers send instead, comes again with the next changes, and with what it contains.
        guard let id = wire.id, let revision = wire.revision,
          asked[id]?.contains(revision) == true
        else { continue }
        do {
          if let selector {
            let content = try wire.document(attachments: wire.attachments.map(\.stub))
            guard selector.matches(content) else { continue }
          }
          result.documents.append(try await document(wire))
        } catch let error as PeerError where !error.isTransient && error.kind != .unauthorized {
          result.failures[id] = error.message
        } catch let error as ProtocolError {
          result.failures[id] = error.reason
        } catch let error as StoreError where error.concernsContent {
          // The attachment is damaged in the other store of this process, or the file of this one is.
          result.failures[id] = error.message
        }
      }
    }
    return result
  }

  /// Returns the revision with its attachments, whose content is then in the store.
  private func document(_ wire: WireDocument) async throws -> SyncDocument {
    guard let id = wire.id, let revision = wire.revision, !wire.attachments.isEmpty else {
      return try wire.document(attachments: [])
    }
    let known = try await session.local { database in
      try database.revisions([id])[id].map { found in
        found.leaves.flatMap { found[$0.id]?.attachments ?? [] }
      } ?? []
    }
    var attachments: [SyncAttachment] = []
    for var attachment in wire.attachments {
      // CouchDB has no generation for some. Without one, it could not be told which peers lack the content.
      if attachment.generation < 1 { attachment.generation = revision.generation }
      attachments.append(
        try await self.attachment(attachment, of: id, revision, known))
    }
    return try wire.document(attachments: attachments)
  }

  private func attachment(
    _ attachment: WireAttachment, of id: String, _ revision: RevisionID, _ known: [SyncAttachment]
  ) async throws -> SyncAttachment {
    if let digest = attachment.digest {
      let same = known.first {
        $0.content != nil && $0.hasDigest(digest) && $0.name.hasSameBytes(as: attachment.name)
      }
      if var same {
        same.generation = attachment.generation
        same.contentType = attachment.contentType
        return same
      }
    }
    let store = database.store
    if case .data(let data) = attachment.source {
      return try await SyncAttachment(attachment, data: data, in: store)
    }
    var fetched = try await peer.attachment(attachment, of: id, revision: revision, in: store)
    fetched.generation = attachment.generation
    let length = fetched.length
    session.report { $0.bytes += Int(length) }
    return fetched
  }

  /// Stores revisions in transactions of bounded size, and returns those that were not stored.
  private func store(_ documents: [SyncDocument]) async throws -> IDMap<String> {
    var failed = IDMap<String>()
    var rest = documents.groupedByID[...]
    while !rest.isEmpty {
      var (batch, size) = ([SyncDocument](), 0)
      while let revisions = rest.first, batch.isEmpty || size < options.batchBytes {
        size += revisions.reduce(0) { $0 + $1.approximateSize }
        batch += revisions
        rest.removeFirst()
      }
      let (stored, bytes) = (batch, size)
      let failures = try await session.localWrite { try $0.replicate(stored) }
      for failure in failures { failed[failure.id] = failure.error.localizedText }
      session.report {
        $0.pulled += stored.count - failures.count
        $0.bytes += bytes
      }
    }
    return failed
  }

  /// Resolves the conflicts of changed documents by the rules.
  ///
  /// - Parameter received: Those of which revisions were received.
  private func resolveConflicts(of ids: [String], received: [String]) async throws {
    // A deletion beside an edit is no recorded conflict, so that one that was received earlier, and not resolved because
    // of an interruption or a failure, is only found here: the changes come again until the checkpoint is saved.
    let some = options.rules.deletions == .deletionWins ? ids : received
    if !some.isEmpty { try await resolveConflicts(some) }
  }

  /// Resolves the conflicts of documents by the rules.
  ///
  /// - Parameter ids: The documents; nil for all.
  private func resolveConflicts(_ ids: [String]?) async throws {
    let exact = ids.map { Set($0.map { ExactName($0) }) }
    let rules = options.rules
    var candidates: [String] = []
    if rules.deletions == .deletionWins, let ids {
      for start in stride(from: 0, to: ids.count, by: Self.idsPerRequest) {
        let some = Array(ids[start...].prefix(Self.idsPerRequest))
        candidates += try await session.local { database in
          try database.revisions(some).filter { $0.value.leaves.count > 1 }.map(\.id)
        }
      }
    } else {
      candidates = try await session.local { try $0.conflictedIDs() }
      if let exact { candidates = candidates.filter { exact.contains(ExactName($0)) } }
    }
    for id in candidates {
      do {
        note(try await resolve(id, rules), id)
      } catch let error as StoreError where error.concernsDocument {
        // The merge violates a unique index, for example: the conflict stays open.
        session.fail(id, .pull, error.message, isRetried: true)
      } catch
        where !(error is StoreError || error is PeerError || error is CancellationError)
      {
        // An error of the closure in the rules, see `RuleFailure`.
        session.fail(id, .pull, error.localizedText, isRetried: true)
      }
    }
  }

  private func resolve(_ id: String, _ rules: ConflictRules) async throws -> ConflictOutcome {
    var bases: [RevisionID: SyncDocument] = [:]
    while true {
      let known = bases
      let outcome = try await session.localWrite { try $0.resolve(id, by: rules, bases: known) }
      // The peer may have the ancestor that is not here.
      guard case .open(let missing?) = outcome, bases[missing] == nil,
        let base = try await ancestor(missing, of: id)
      else { return outcome }
      bases[missing] = base
    }
  }

  private func ancestor(_ revision: RevisionID, of id: String) async throws -> SyncDocument? {
    var wanted = WantedRevision(id: id, revision: revision, ancestors: [])
    wanted.isBase = true
    let found = try await peer.revisions([wanted])
    for case .document(let wire) in found where wire.revision == revision {
      return try wire.document(attachments: wire.attachments.map(\.stub))
    }
    return nil
  }

  private func note(_ outcome: ConflictOutcome, _ id: String) {
    let name = database.name
    switch outcome {
    case .none, .open: break
    case .decided: session.report { $0.resolved += 1 }
    case .merged(let overridden):
      session.report { status in
        status.resolved += 1
        guard !overridden.isEmpty else { return }
        status.overridden.append(
          OverriddenFields(collection: name, key: id, fields: overridden.map(\.description)))
        status.overridden = status.overridden.suffix(SyncStatus.maximumFailures)
      }
    }
  }
}

extension [SyncDocument] {
  /// The revisions of each document, deletions first: a merged version must not be anywhere without the deletion of what it
  /// contains.
  package var groupedByID: [[SyncDocument]] {
    var (ids, groups) = ([String](), IDMap<[SyncDocument]>())
    for document in self {
      if groups[document.id] == nil { ids.append(document.id) }
      groups[document.id, default: []].append(document)
    }
    return ids.map { id in
      let group = groups[id] ?? []
      return group.filter(\.isDeleted) + group.filter { !$0.isDeleted }
    }
  }
}

extension SyncDocument {
  /// The size of the content without attachments, roughly.
  var approximateSize: Int { 100 + DocumentValue.object(body).approximateSize }
}

extension DocumentValue {
  fileprivate var approximateSize: Int {
    switch self {
    case .string(let text): text.utf8.count + 2
    case .data(let data): data.count * 4 / 3
    case .array(let elements): elements.reduce(2) { $0 + $1.approximateSize + 1 }
    case .object(let object):
      object.reduce(2) { $0 + $1.name.utf8.count + 4 + $1.value.approximateSize }
    default: 8
    }
  }
}

extension SyncAttachment {
  /// Stores the bytes that came with a document.
  package init(_ attachment: WireAttachment, data: Data, in store: Store) async throws {
    var digest = AttachmentDigest()
    data.withUnsafeBytes { digest.update($0) }
    let content = try await store.addAttachment(.data(data), contentType: attachment.contentType)
    let own = digest.text()
    self.init(
      name: attachment.name, contentType: attachment.contentType,
      generation: attachment.generation, digest: own,
      foreignDigest: attachment.digest.flatMap { $0.hasSameBytes(as: own) ? nil : $0 },
      length: Int64(data.count), content: content)
  }
}
