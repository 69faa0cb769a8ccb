// SPDX-License-Identifier: MIT

package import NanoDocument

/// Options for copying a store.
public struct CopyOptions: Sendable, Hashable {
  /// Whether existing contents of the target are deleted first.
  ///
  /// They are lost even if the copy fails. An unfinished copy of the same source is resumed
  /// nevertheless.
  public var replacing: Bool
  /// Whether definitions that the target's engine does not support are skipped.
  ///
  /// Skipped indexes and policies are reported in ``CopyReport/omitted``. If false, they make the
  /// copy fail.
  public var skippingUnsupported: Bool
  /// The maximum number of documents in one transaction of the target. Larger transactions are
  /// hardly faster and block other writers.
  public var batchDocuments: Int
  /// The number of bytes of JSON after which a transaction is committed.
  public var batchBytes: Int

  /// Creates options.
  public init(
    replacing: Bool = false, skippingUnsupported: Bool = false, batchDocuments: Int = 1_000,
    batchBytes: Int = 4_000_000
  ) {
    self.replacing = replacing
    self.skippingUnsupported = skippingUnsupported
    self.batchDocuments = batchDocuments
    self.batchBytes = batchBytes
  }

  /// Validates the batch sizes.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if one is not positive.
  package func validate() throws(StoreError) {
    guard batchDocuments > 0, batchBytes > 0 else {
      throw StoreError(
        .invalidArgument, "Batch sizes must be at least one document and one byte",
        [.actual: "\(min(batchDocuments, batchBytes))"])
    }
  }
}

/// The progress of a copy or a comparison.
public struct CopyProgress: Sendable, Hashable {
  /// The phases, in order.
  public enum Phase: String, Sendable, Hashable, CaseIterable {
    /// Copying documents.
    case documents
    /// Creating settings and indexes.
    case indexes
    /// Copying bags.
    case bags
    /// Copying the content of attachments.
    case attachments
    /// Copying metadata.
    case metadata
    /// Comparing the stores.
    case verification
  }

  /// The current phase.
  public var phase: Phase
  /// The current collection; nil if the phase concerns none.
  public var collection: String?
  /// The number of documents in the target; during verification, the number of compared documents.
  public var documents: Int
  /// The number of documents in the source, including those of bags.
  public var total: Int

  /// Creates a progress value.
  package init(phase: Phase, collection: String? = nil, documents: Int = 0, total: Int = 0) {
    self.phase = phase
    self.collection = collection
    self.documents = documents
    self.total = total
  }
}
