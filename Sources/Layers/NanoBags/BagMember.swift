// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import NanoQuery

/// A reference to a member of a bag: the collection of a document and its key or row ID.
///
/// A bag in a bag is also a member; see ``isBag``.
public struct BagMember: Sendable {
  /// The name of the collection.
  public let collection: String
  /// The key, or the row ID of a document that has none.
  package let identity: Identity
  /// The case-folded name: collection names are case-insensitive in ASCII letters.
  let folded: String
  var exact: ExactName { ExactName(folded) }

  package init(_ collection: String, _ identity: Identity) {
    self.collection = collection
    self.identity = identity
    folded = collection.foldingASCII
  }

  /// The key; nil for a document that has only a row ID.
  public var key: String? { if case .key(let key) = identity { key.description } else { nil } }
  /// The row ID; nil for a document that has a key.
  public var rowID: Int64? { if case .rowID(let id) = identity { id } else { nil } }
  /// Whether the member is a bag rather than a document.
  public var isBag: Bool { folded == InternalCollection.bags.rawValue }

  /// The bag with a key, as a member.
  package static func bag(_ key: DocumentKey) -> BagMember {
    BagMember(InternalCollection.bags.rawValue, .key(key))
  }
}

extension BagMember: Hashable {
  /// Whether both refer to the same document or bag.
  public static func == (a: BagMember, b: BagMember) -> Bool {
    a.identity == b.identity && a.folded.hasSameBytes(as: b.folded)
  }
  /// Hashes the collection and the key or row ID.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(exact)
    hasher.combine(identity)
  }
}

/// A document of ``InternalCollection/bagMembers``.
///
/// `{"bag":1,"position":7,"collection":"people","key":"ada"}`: the row ID of the bag, the position
/// in it, the case-folded collection name, and the key as a string or the row ID as a number.
struct Membership: DocumentRepresentable {
  var bag: Int64
  var position: Int64
  var member: BagMember
  /// The row ID of the membership itself; 0 unless it was read from the store.
  var rowID: Int64 = 0

  init(bag: Int64, position: Int64, member: BagMember) {
    self.bag = bag
    self.position = position
    self.member = member
  }

  func write(to writer: inout JSONWriter) {
    writer.literal(#"{"bag":"#)
    writer.integer(bag)
    writer.literal(#","position":"#)
    writer.integer(position)
    writer.literal(#","collection":"#)
    writer.string(member.folded)
    writer.literal(#","key":"#)
    switch member.identity {
    case .key(let key): writer.string(key.description)
    case .rowID(let id): writer.integer(id)
    }
    writer.literal("}")
  }

  init(reading reader: inout JSONReader) throws(StoreError) {
    var bag: Int64?
    var position: Int64?
    var collection: String?
    var identity: Identity?
    try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
      if field.matches("bag") {
        bag = try reader.integer()
      } else if field.matches("position") {
        position = try reader.integer()
      } else if field.matches("collection") {
        collection = try reader.string()
      } else if field.matches("key") {
        identity =
          reader.kind() == .string
          ? .key(try DocumentKey(try reader.string())) : .rowID(try reader.integer())
      } else {
        try reader.skipValue()
      }
    }
    guard let bag else { throw reader.missingField("bag") }
    guard let position else { throw reader.missingField("position") }
    guard let collection else { throw reader.missingField("collection") }
    guard let identity else { throw reader.missingField("key") }
    self.init(bag: bag, position: position, member: BagMember(collection, identity))
  }
}

extension Membership {
  /// A place in the order of a bag. Rows of other programs may have equal or negative positions.
  struct Place: Comparable, Sendable {
    let position: Int64
    let rowID: Int64

    static func < (a: Place, b: Place) -> Bool {
      (a.position, a.rowID) < (b.position, b.rowID)
    }
  }

  var place: Place { Place(position: position, rowID: rowID) }
}

extension Membership {
  static let collection = InternalCollection.bagMembers.rawValue

  /// Every query for memberships is served by one of these indexes.
  static let indexes = [
    ["bag", "position"], ["bag", "collection", "key"], ["collection", "key"],
  ]

  static func isIn(_ bag: Int64) -> Condition { Field("bag") == .int(bag) }
  static func isOf(_ collection: String) -> Condition { Field("collection") == .string(collection) }

  static func concerns(_ member: BagMember) -> Condition {
    .all([isOf(member.folded), Field("key") == member.identity.value])
  }
  /// - Parameter identities: No more than a statement has parameters.
  static func concerns(_ collection: String, _ identities: some Sequence<Identity>) -> Condition {
    .all([isOf(collection), Field("key").isIn(identities.map(\.value))])
  }

  /// The number of identities in one statement. Arbitrary; more is hardly faster.
  static let chunk = 256
}

extension Identity {
  /// The identity as stored in a membership.
  fileprivate var value: DocumentValue {
    switch self {
    case .key(let key): .string(key.description)
    case .rowID(let id): .int(id)
    }
  }
}
