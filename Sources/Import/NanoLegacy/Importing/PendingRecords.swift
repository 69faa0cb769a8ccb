// SPDX-License-Identifier: MIT

import NanoDocument

/// Encoded documents of one collection, and bags, that are written together.
struct PendingRecords {
  /// Where a record comes from, for the report.
  struct Origin {
    let className: String
    let position: String

    init(_ record: LegacyRecord) {
      className = record.className
      position = record.position
    }
  }

  struct Entry {
    var key: DocumentKey?
    let rowID: Int64?
    let type: String?
    let version: Int64?
    let added: Int64
    let body: Range<Int>
    let origin: Origin
  }

  private(set) var collection: String?
  private(set) var entries: [Entry] = []
  private(set) var bags: [(bag: LegacyBag, origin: Origin)] = []
  private var bytes: [UInt8] = []
  private var bagBytes = 0

  var count: Int { entries.count + bags.count }
  var byteCount: Int { bytes.count + bagBytes }

  /// Whether documents of a collection may be added.
  func isOf(_ collection: String) -> Bool { self.collection?.hasSameBytes(as: collection) ?? true }

  /// Encodes a document.
  ///
  /// - Returns: The reason why it has no stored form; nil if it was added.
  mutating func add(
    _ document: LegacyDocument, _ origin: Origin, _ collection: String, importTime: Int64
  ) -> String? {
    var writer = JSONWriter(capacity: 512)
    writer.object(document.object)
    if let failure = writer.failure { return failure.reason }
    self.collection = collection
    let start = bytes.count
    bytes.append(contentsOf: writer.bytes)
    entries.append(
      Entry(
        key: document.key, rowID: document.rowID, type: document.type, version: document.version,
        added: document.added ?? importTime, body: start..<bytes.count, origin: origin))
    return nil
  }

  mutating func add(_ bag: LegacyBag, _ origin: Origin) {
    if case .members(_, let keys) = bag { bagBytes += 40 * keys.count }
    bags.append((bag, origin))
  }

  mutating func removeAll() {
    collection = nil
    entries.removeAll(keepingCapacity: true)
    bags.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    bagBytes = 0
  }

  func withBody<Result>(
    of entry: Entry, _ read: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes { try read(UnsafeRawBufferPointer(rebasing: $0[entry.body])) }
  }

  func digest(of entry: Entry) -> ContentDigest {
    withBody(of: entry) {
      ContentDigest(
        key: entry.key, rowID: entry.rowID, type: entry.type, version: entry.version,
        added: entry.added, body: $0)
    }
  }
}

extension StoreError {
  /// The message as a reason in a list: without a capital letter.
  var reason: String { message.prefix(1).lowercased() + message.dropFirst() }
}
