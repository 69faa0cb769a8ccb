// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument

/// Options for importing an old store.
public struct LegacyImportOptions: Sendable, Hashable {
  /// What happens to documents of the target that have the same key or row ID as an imported one.
  public enum ExistingDocuments: String, Sendable, Hashable, CaseIterable {
    /// The import fails, and nothing is stored.
    case fail
    /// The imported document replaces the fields, the class and the version of the existing one,
    /// which keeps its row ID and insertion time.
    case replace
    /// The existing document is kept, and the imported one is listed as skipped.
    case skip
  }

  /// What happens to existing documents, bags, settings and metadata of the target.
  public var existing: ExistingDocuments
  /// The collection for all documents of a NanoStore file, whose keys are unique across classes.
  /// Default: `objects`.
  public var collection: String
  /// The time zone of the device that wrote a NanoStore file, whose dates of saves are local times.
  /// Default: the current one.
  public var timeZone: TimeZone
  /// The calendar of the device that wrote a NanoStore file. Default: Gregorian. A year of the
  /// Japanese calendar is of the latest era in which it is not in the future.
  public var calendar: Calendar.Identifier
  /// Whether documents and bags of a NanoStore file with unreadable content are rebuilt from its table of
  /// values, in which dates are text, the order of arrays is lost, and the dictionaries in an array are one.
  /// Default: false; they are skipped.
  public var rebuildsFromIndex: Bool
  /// The description of the classes of a BNRPersistence store. Classes without one are imported as
  /// data.
  public var schema: BNRSchema?
  /// The passphrase of a BNRPersistence store; nil if it is not encrypted.
  public var passphrase: String?
  /// Whether the import is committed in parts and can be resumed.
  ///
  /// If true, an import that ends early leaves the documents committed so far, and the same call
  /// resumes it; a call with other options that matter for the kind of store throws
  /// ``StoreError/Code/alreadyExists``. The batch sizes may differ. Other programs may write to the target in between:
  /// their documents, and imported ones that they have changed, count as existing ones. Changes of imported bags are lost.
  /// If false, the default, it is one
  /// transaction: after an error the target is unchanged.
  public var isResumable: Bool
  /// The maximum number of documents written at once, or committed at once in a resumable import.
  public var batchDocuments: Int
  /// The number of bytes of JSON after which documents are written.
  public var batchBytes: Int

  /// Creates options.
  public init(
    existing: ExistingDocuments = .fail, collection: String = "objects",
    timeZone: TimeZone = .current,
    calendar: Calendar.Identifier = .gregorian, rebuildsFromIndex: Bool = false,
    schema: BNRSchema? = nil, passphrase: String? = nil, isResumable: Bool = false,
    batchDocuments: Int = 1_000,
    batchBytes: Int = 4_000_000
  ) {
    self.existing = existing
    self.collection = collection
    self.timeZone = timeZone
    self.calendar = calendar
    self.rebuildsFromIndex = rebuildsFromIndex
    self.schema = schema
    self.passphrase = passphrase
    self.isResumable = isResumable
    self.batchDocuments = batchDocuments
    self.batchBytes = batchBytes
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` for a batch size that is not positive.
  func validate() throws(StoreError) {
    guard batchDocuments > 0, batchBytes > 0 else {
      throw StoreError(
        .invalidArgument, "Batch sizes must be at least one document and one byte",
        [.actual: "\(min(batchDocuments, batchBytes))"])
    }
  }

  /// The calendar that the dates of saves are in.
  var saveCalendar: Calendar {
    var calendar = Calendar(identifier: calendar)
    calendar.timeZone = timeZone
    return calendar
  }
}
