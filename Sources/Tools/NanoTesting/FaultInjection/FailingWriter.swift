// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

final class FailingWriter: FailingReader, EngineWriter {
  private let writer: any EngineWriter

  init(_ writer: any EngineWriter, _ plan: FailurePlan) {
    self.writer = writer
    super.init(writer, plan)
  }

  private func counted() throws -> any EngineWriter {
    try plan.call()
    return writer
  }

  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    try counted().insert(document, into: collection)
  }
  func prepare(_ use: [TransactionUse]) throws { try counted().prepare(use) }
  var preferredBatchSize: Int { writer.preferredBatchSize }
  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    try counted().save(document, into: collection)
  }
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    try counted().insert(documents, into: collection, &rowIDs)
  }
  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    try counted().save(documents, into: collection, &rowIDs)
  }
  func nextRowID(in collection: String) throws -> Int64 {
    try counted().nextRowID(in: collection)
  }
  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    try counted().replace(identity, with: document, in: collection)
  }
  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    try counted().delete(identity, from: collection)
  }
  func delete(_ query: Query, from collection: String) throws -> Int {
    try counted().delete(query, from: collection)
  }
  func setTracking(_ state: FeedState?, of collection: String) throws {
    try counted().setTracking(state, of: collection)
  }
  func setFeedRows(_ rows: [FeedRow], of collection: String) throws {
    try counted().setFeedRows(rows, of: collection)
  }
  func pruneTombstones(before time: Int64, in collection: String) throws -> Int {
    try counted().pruneTombstones(before: time, in: collection)
  }
  func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws {
    try counted().setKeepsPreviousBodies(keeps, of: collection)
  }
  func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws {
    try counted().removePreviousBodies(ofRows: rowIDs, in: collection)
  }
  func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws {
    try counted().replacePreviousBody(ofRow: rowID, with: body, in: collection)
  }
  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    try counted().addBlob(blob, bytes)
  }
  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    try counted().beginBlob(chunkLength: chunkLength, lease)
  }
  func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    try counted().continueBlob(upload, touched: touched)
  }
  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws { try counted().appendChunk(bytes, state: state, to: &upload) }
  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    try counted().finishBlob(upload, blob)
  }
  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {
    try counted().resealBlob(blob, as: digest, sealed)
  }
  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int { try counted().deleteBlobs(blobs) }
  func endLeases(of blobs: [BlobRecord]) throws { try counted().endLeases(of: blobs) }
  var expiry: ExpiryLog {
    get { writer.expiry }
    set { writer.expiry = newValue }
  }
  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws {
    try counted().setExpirations(times, in: collection)
  }
  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    try counted().sweepExpired(limit: limit, from: collection)
  }
  func createCollections(_ descriptions: [CollectionDescription]) throws {
    try counted().createCollections(descriptions)
  }
  func dropCollection(_ name: String) throws -> Bool { try counted().dropCollection(name) }
  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    try counted().createIndex(index, in: collection)
  }
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    try counted().beginIndex(index, in: collection)
  }
  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool {
    try counted().continueIndex(name, in: collection, documents: documents)
  }
  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {
    try counted().setIndexCostRecords(rows, of: collection)
  }
  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    try counted().createFullTextIndex(index, in: collection)
  }
  func dropIndex(_ name: String, in collection: String) throws -> Bool {
    try counted().dropIndex(name, in: collection)
  }
  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws { try counted().setIndexing(policy, in: collection, progress) }
  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws {
    try counted().rebuildIndexes(in: collection, progress)
  }
  @discardableResult
  func dropIndexes(in collection: String) throws -> Int {
    try counted().dropIndexes(in: collection)
  }
  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    try counted().setSettings(settings, of: collection)
  }
  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try counted().setMetadata(value, name)
  }
  func requireDecimals() throws { try counted().requireDecimals() }
  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    try counted().savepoint(work)
  }
  func insertAtomically<Result>(
    _ count: Int, into collection: String, _ work: () throws -> Result
  ) throws -> Result {
    try counted().insertAtomically(count, into: collection, work)
  }
  func prepareForOtherUse() throws { try writer.prepareForOtherUse() }
}
