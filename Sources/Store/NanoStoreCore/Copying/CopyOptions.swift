// SPDX-License-Identifier: MIT

package import NanoDocument

/// How a store is copied into another one.
public struct CopyOptions: Sendable, Hashable {
  /// Whether what the target holds may be removed first. It is gone even if the copy does not come to
  /// its end. An unfinished copy of the same source is gone on with all the same.
  public var replacing: Bool
  /// Whether indexes and policies that the target's engine does not have are left out, and told in
  /// ``CopyReport/leftOut``, rather than refused.
  public var skippingUnsupported: Bool
  /// Documents that one transaction of the target takes at most. Larger ones are hardly faster and keep
  /// others waiting.
  public var batchDocuments: Int
  /// Bytes of JSON after which a transaction takes no further document.
  public var batchBytes: Int

  public init(
    replacing: Bool = false, skippingUnsupported: Bool = false, batchDocuments: Int = 1_000,
    batchBytes: Int = 4_000_000
  ) {
    self.replacing = replacing
    self.skippingUnsupported = skippingUnsupported
    self.batchDocuments = batchDocuments
    self.batchBytes = batchBytes
  }

  /// Throws if a batch takes nothing.
  package func validate() throws(StoreError) {
    guard batchDocuments > 0, batchBytes > 0 else {
      throw StoreError(
        .invalidArgument, "A batch takes at least one document and one byte",
        [.actual: "\(min(batchDocuments, batchBytes))"])
    }
  }
}

/// How far a copy or a comparison is.
public struct CopyProgress: Sendable, Hashable {
  /// What is being done, in this order.
  public enum Phase: String, Sendable, Hashable, CaseIterable {
    case documents, indexes, bags, metadata, verification
  }

  public var phase: Phase
  /// The collection at hand; nil if it is about none.
  public var collection: String?
  /// Documents that the target has. In the verification, those that were compared.
  public var documents: Int
  /// All documents of the source, those of bags included.
  public var total: Int

  package init(phase: Phase, collection: String? = nil, documents: Int = 0, total: Int = 0) {
    self.phase = phase
    self.collection = collection
    self.documents = documents
    self.total = total
  }
}
