// SPDX-License-Identifier: MIT

import NanoDocument

/// Finds records through the bucket array: each bucket is a binary tree of records.
///
/// The content is not trusted: a record counts as part of a tree only if its key belongs to the bucket
/// and lies between the keys of its ancestors. This also excludes cycles.
struct HashDatabaseIndex {
  let reader: HashBlockReader

  /// The position of a record in its tree, in descending order from left to right.
  struct Rank {
    let hash: UInt8
    let key: [UInt8]

    func isGreater(than other: Rank) -> Bool {
      if hash != other.hash { return hash > other.hash }
      if key.count != other.key.count { return key.count > other.key.count }
      return other.key.lexicographicallyPrecedes(key)
    }
  }

  enum Match: Equatable {
    /// The tree leads to a record with this key, at this offset.
    case found(Int64)
    /// The tree is readable and does not contain the key.
    case absent
    /// The path to the key leads to a block that is not readable or not part of the tree.
    case broken
  }

  /// An edge to a subtree, with the ranks between which its records lie.
  private struct Edge {
    let offset: Int64
    var below: Rank?
    var above: Rank?
    var depth = 0
  }

  /// Longer paths count as broken. Arbitrary: the library's hash keeps trees shallow.
  private static let maximumDepth = 1_000
  /// Records with longer keys are not part of a tree. Arbitrary; keys are row IDs and names.
  private static let maximumKeySize = 1 << 16
  /// The buckets that are read at once. Arbitrary.
  private static let chunk: Int64 = 1_024

  func find(_ key: [UInt8]) throws(StoreError) -> Match {
    let bucket = reader.bucketIndex(key)
    let target = Rank(hash: HashBlockReader.hash(key), key: key)
    var edge = Edge(offset: try reader.root(bucket))
    while edge.offset != 0 {
      guard let (record, rank) = try node(edge, bucket) else { return .broken }
      if target.isGreater(than: rank) {
        edge = left(record, rank, edge)
      } else if rank.isGreater(than: target) {
        edge = right(record, rank, edge)
      } else {
        return .found(record.offset)
      }
    }
    return .absent
  }

  /// Passes each record that the bucket array leads to.
  func forEach(_ body: (HashRecord) throws(StoreError) -> Void) throws(StoreError) {
    let count = reader.presentBucketCount
    var first: Int64 = 0
    while first < count {
      let end = min(first + Self.chunk, count)
      var roots: [(bucket: Int64, offset: Int64)] = []
      for bucket in first..<end {
        let root = try reader.root(bucket)
        if root > 0 { roots.append((bucket, root)) }
      }
      for root in roots { try walk(root.offset, root.bucket, body) }
      first = end
    }
  }

  private func walk(
    _ root: Int64, _ bucket: Int64, _ body: (HashRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    var edges = [Edge(offset: root)]
    while let edge = edges.popLast() {
      guard edge.offset != 0, let (record, rank) = try node(edge, bucket) else { continue }
      edges.append(left(record, rank, edge))
      edges.append(right(record, rank, edge))
      try body(record)
    }
  }

  private func left(_ record: HashRecord, _ rank: Rank, _ edge: Edge) -> Edge {
    Edge(offset: record.left, below: edge.below, above: rank, depth: edge.depth + 1)
  }

  private func right(_ record: HashRecord, _ rank: Rank, _ edge: Edge) -> Edge {
    Edge(offset: record.right, below: rank, above: edge.above, depth: edge.depth + 1)
  }

  /// Returns the record at the end of an edge if it is part of the bucket's tree.
  private func node(
    _ edge: Edge, _ bucket: Int64
  ) throws(StoreError) -> (HashRecord, Rank)? {
    guard edge.depth < Self.maximumDepth, edge.offset >= reader.header.firstBlock,
      case .record(let record) = try reader.block(edge.offset, limit: reader.file.count),
      record.keySize <= Self.maximumKeySize
    else { return nil }
    let key = try reader.key(record)
    let rank = Rank(hash: record.hash, key: key)
    guard HashBlockReader.hash(key) == record.hash, reader.bucketIndex(key) == bucket,
      edge.below.map({ $0.isGreater(than: rank) }) ?? true,
      edge.above.map({ rank.isGreater(than: $0) }) ?? true
    else { return nil }
    return (record, rank)
  }
}
