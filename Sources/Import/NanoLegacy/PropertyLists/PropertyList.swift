// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The objects of a property list, by number. Containers refer to their contents by number, so that
/// a list that refers to itself, or to one object many times, takes no more memory than the file.
protocol PropertyList {
  /// The number of the outermost object.
  var root: Int { get }
  /// Returns an object.
  ///
  /// - Throws: ``PropertyListError`` for a number without a readable object.
  func object(_ number: Int) throws(PropertyListError) -> PropertyListObject
}

/// An object of a property list.
enum PropertyListObject {
  case null
  case bool(Bool)
  case int(Int64)
  /// An integer beyond 64 bits with sign, as text.
  case largeInteger(String)
  case real(Double)
  /// Seconds since 2001.
  case date(Double)
  case data([UInt8])
  case string(String)
  /// A reference in a keyed archive.
  case uid(Int)
  case array([Int])
  /// The numbers of the names and of the values.
  case dictionary([Int], [Int])
}

/// The reason why a property list or an archive cannot be read: a constant sentence and a number.
struct PropertyListError: Error, Equatable {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

extension PropertyListObject {
  /// The bytes that the object takes in memory when it is expanded, roughly.
  var size: Int {
    switch self {
    case .data(let bytes): 16 + bytes.count
    case .string(let text), .largeInteger(let text): 16 + text.utf8.count
    default: 16
    }
  }

  /// The work of reading the object: one for each entry or 16 bytes.
  var cost: Int {
    switch self {
    case .data(let bytes): 1 + bytes.count / 16
    case .string(let text), .largeInteger(let text): 1 + text.utf8.count / 16
    case .array(let elements): 1 + elements.count
    case .dictionary(let names, _): 1 + names.count
    default: 1
    }
  }
}

/// What the importer reads from an archive or property list, and how.
struct DecodedContent {
  var object: DocumentObject
  var notes = ConversionNotes()
}

/// Bounds the memory and the time that expanding a property list takes: an archive of a kilobyte can
/// refer to its objects so often that the expanded value would have terabytes.
struct ExpansionBudget {
  private var bytes: Int
  /// The cost of the objects that may still be read.
  private var reads: Int

  /// Far more than any value expands to whose objects are shared by accident, such as one string in
  /// many fields.
  private static let ratio = 1_000
  private static let minimum = 1 << 20
  /// Arbitrary; the maximum length of a record in other imports.
  private static let maximum = 128 << 20
  /// The most expensive archives, of tiny dictionaries, cost 0.7 for each byte of the file, and one object in many
  /// places 3 for 16 bytes of the value. Both are less than half of the bytes.
  private static let bytesOfRead = 2

  init(archiveSize: Int) {
    let scaled = archiveSize.multipliedReportingOverflow(by: Self.ratio)
    let wanted = Self.minimum + (scaled.overflow ? Self.maximum : scaled.partialValue)
    bytes = max(min(wanted, Self.maximum), 2 * archiveSize)
    reads = bytes / Self.bytesOfRead
  }

  /// Charges for reading an object, whose value may be dropped.
  mutating func read(_ object: PropertyListObject) throws(PropertyListError) {
    reads -= object.cost
    guard reads >= 0 else { throw Self.tooLarge }
  }

  mutating func take(_ size: Int) throws(PropertyListError) {
    bytes -= size
    guard bytes >= 0 else { throw Self.tooLarge }
  }

  private static let tooLarge = PropertyListError(
    "the value is too large when its shared objects are expanded")
}
