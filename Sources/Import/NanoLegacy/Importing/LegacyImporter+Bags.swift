// SPDX-License-Identifier: MIT

import NanoBags
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

// Bags are created empty first, since they may contain each other, and filled when all documents
// and bags exist.
extension LegacyImporter {
  /// Writes the pending bags.
  func writeBags() throws {
    for (bag, origin) in pending.bags {
      switch bag {
      case .bag(let key, let name): try write(key, name, origin)
      case .members(let key, let members): try fill(key, members, origin)
      }
    }
  }

  private func write(
    _ key: DocumentKey, _ name: String?, _ origin: PendingRecords.Origin
  ) throws {
    guard let stored = try bag(key) else {
      try store.save(Bag(key: key, name: name, in: store))
      if let rowID = try rowID(ofBag: key) { checkpoint.bags.add([rowID]) }
      change(origin.className, nil) { $0.imported += 1 }
      return
    }
    if stored.isOurs {
      // A later row of the old store with the same key.
      change(origin.className, nil) { $0.add(.duplicateKey) }
    } else {
      switch options.existing {
      case .fail:
        throw StoreError(
          .duplicateKey, "The target has a bag with the key of an imported one",
          [.key: key.description, .hint: "replace or skip existing bags, or use an empty target"])
      case .skip:
        return skip(
          origin.className, nil,
          LegacyImportReport.Skipped(
            position: origin.position, key: key.description,
            reason: "the target has a bag with the same key"))
      case .replace: change(origin.className, nil) { $0.imported += 1 }
      }
    }
    stored.bag.name = name
    try stored.bag.save()
  }

  private func fill(
    _ key: DocumentKey, _ members: [String], _ origin: PendingRecords.Origin
  ) throws {
    guard let stored = try bag(key), stored.isOurs || options.existing == .replace else { return }
    try stored.bag.removeAll()
    var added: Set<BagMember> = []
    var dropped = 0
    for start in stride(from: 0, to: members.count, by: Self.membersTogether) {
      let chunk = members[start..<min(start + Self.membersTogether, members.count)]
      let keys = chunk.map { try? DocumentKey($0) }
      let found = try existing(Set(keys.compactMap(\.self)))
      for key in keys {
        guard let key, let member = found[key], added.insert(member).inserted else {
          dropped += 1
          continue
        }
        stored.bag.add(member)
      }
    }
    try stored.bag.save()
    change(origin.className, nil) { result in
      for _ in 0..<dropped { result.add(.droppedMember) }
    }
  }

  /// The number of members that are looked up together. Arbitrary; more is hardly faster.
  private static let membersTogether = 256

  /// Returns the bags and documents with these keys.
  private func existing(_ keys: Set<DocumentKey>) throws -> [DocumentKey: BagMember] {
    var found: [DocumentKey: BagMember] = [:]
    let condition = Condition.key(in: keys.map(\.description))
    for collection in source.collections {
      try store[collection.name].find(condition).visitStored { stored in
        if let key = stored.key { found[key] = BagMember(collection.name, .key(key)) }
        return true
      }
    }
    for bag in try store.bags(keys: keys.map(\.description)) {
      let key = try DocumentKey(bag.key)
      found[key] = BagMember.bag(key)
    }
    return found
  }

  /// Returns the stored bag with a key, and whether this import created it.
  private func bag(_ key: DocumentKey) throws -> (bag: Bag, isOurs: Bool)? {
    guard let bag = try store.bag(key: key.description) else { return nil }
    return (bag, try rowID(ofBag: key).map(checkpoint.bags.contains) ?? false)
  }

  private func rowID(ofBag key: DocumentKey) throws -> Int64? {
    try store.internalCollection(.bags).get(key.description)?.rowID
  }
}
