// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Counts each call and forwards it.
class FailingReader: EngineReader {
  private let reader: any EngineReader
  let plan: FailurePlan

  init(_ reader: any EngineReader, _ plan: FailurePlan) {
    self.reader = reader
    self.plan = plan
  }

  private func counted() throws -> any EngineReader {
    try plan.call()
    return reader
  }

  func collections() throws -> [CollectionDescription] { try counted().collections() }
  func feed(of collection: String) throws -> FeedState? { try counted().feed(of: collection) }
  func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows {
    try counted().feedRows(after: cursor, limit: limit, settledOnly: settledOnly, in: collection)
  }
  func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    try counted().feedNumber(ofRow: rowID, in: collection)
  }
  func formerKeys(
    ofRows rowIDs: [Int64], in collection: String
  ) throws -> [Int64: DocumentKey] {
    try counted().formerKeys(ofRows: rowIDs, in: collection)
  }
  func keepsPreviousBodies(in collection: String) throws -> Bool {
    try counted().keepsPreviousBodies(in: collection)
  }
  func previousBody(
    ofRow rowID: Int64, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool { try counted().previousBody(ofRow: rowID, in: collection, show) }
  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ show: (StoredDocument) throws -> Void
  ) throws {
    try counted().previousBodies(after: rowID, limit: limit, in: collection, show)
  }
  func blob(_ digest: BlobDigest) throws -> BlobRecord? { try counted().blob(digest) }
  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] {
    try counted().blobs(after: rowID, limit: limit)
  }
  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ show: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool { try counted().chunk(position, of: blob, show) }
  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? {
    try counted().chunkState(position, of: blob)
  }
  func identity(of collection: String) throws -> CollectionIdentity {
    try counted().identity(of: collection)
  }
  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try counted().get(identity, in: collection, show)
  }
  func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    try counted().get(keys: keys, in: collection, show)
  }
  func get(
    rowIDs: [Int64], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    try counted().get(rowIDs: rowIDs, in: collection, show)
  }
  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ show: (StoredContent) throws -> Bool
  ) throws {
    try counted().contents(query, in: collection, withKeys: withKeys, show)
  }
  func find(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    try counted().find(query, in: collection, show)
  }
  func count(_ query: Query, in collection: String) throws -> Int {
    try counted().count(query, in: collection)
  }
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    try counted().aggregate(query, in: collection)
  }
  func aggregate(
    _ query: AggregateQuery, in collection: String, _ show: (AggregateRow) throws -> Bool
  ) throws {
    try counted().aggregate(query, in: collection, show)
  }
  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    try counted().distinct(field, query, in: collection)
  }
  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ show: (DocumentObject) throws -> Bool
  ) throws {
    try counted().pipeline(pipeline, query, in: collection, show)
  }
  func explain(_ query: Query, in collection: String) throws -> Explanation {
    try counted().explain(query, in: collection)
  }
  func indexes(in collection: String) throws -> [IndexDefinition] {
    try counted().indexes(in: collection)
  }
  func findRanked(
    _ query: Query, in collection: String, _ show: (StoredDocument, Double) throws -> Bool
  ) throws {
    try counted().findRanked(query, in: collection, show)
  }
  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    try counted().fullTextIndexes(in: collection)
  }
  func indexing(in collection: String) throws -> IndexingPolicy {
    try counted().indexing(in: collection)
  }
  func findInAnyOrder(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    try counted().findInAnyOrder(query, in: collection, show)
  }
  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    try counted().rowIDs(query, in: collection)
  }
  func highestRowID(in collection: String) throws -> Int64? {
    try counted().highestRowID(in: collection)
  }
  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    try counted().version(ofRow: rowID, in: collection)
  }
  func committedState() throws -> CommittedState? { try counted().committedState() }
  func types(in collection: String) throws -> [String] {
    try counted().types(in: collection)
  }
  func settings(of collection: String) throws -> CollectionSettings {
    try counted().settings(of: collection)
  }
  func observedPaths(in collection: String) throws -> [ObservedPath] {
    try counted().observedPaths(in: collection)
  }
  func unfinishedIndexes() throws -> [PendingIndex] { try counted().unfinishedIndexes() }
  func indexCostRecords() throws -> [IndexCostRecord] { try counted().indexCostRecords() }
  func metadata(_ name: String) throws -> DocumentValue? { try counted().metadata(name) }
  func metadataNames() throws -> [String] { try counted().metadataNames() }
  func expiringCollections() throws -> [String] { try counted().expiringCollections() }
  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    try counted().expirations(ofRows: rowIDs, in: collection)
  }
  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    try counted().earliestExpiration(after: time, in: collection)
  }
}
