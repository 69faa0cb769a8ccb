// SPDX-License-Identifier: MIT

package import NanoDocument

/// Collects the distinct values of a field in stored documents.
///
/// Confined to one thread at a time.
package final class DistinctValues {
  private var seen: [[UInt8]: DocumentValue] = [:]
  private var document: DocumentBytes
  private let path: CountedPath
  private var budget = SpillBudget()
  private let makeSpill: SpillMaker?
  private var spill: (any ExternalSorter)?
  private var spilled = 0
  private var writer = JSONWriter()

  /// - Parameters:
  ///   - defaults: The values of the field in documents that do not have it.
  ///   - makeSpill: Creates external storage for values that do not fit in memory; `nil` keeps all
  ///     values in memory.
  package init(
    _ field: FieldPath, defaults: FieldDefaults? = nil, makeSpill: SpillMaker? = nil
  ) {
    var names = FieldNames()
    path = CountedPath(field, &names, defaults)
    document = DocumentBytes(names.names)
    self.makeSpill = makeSpill
  }

  /// Adds a document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  package func add(_ body: UnsafeRawBufferPointer) throws(StoreError) {
    document.reset(body)
    var failure: StoreError?
    try path.each(&document) { value in
      do throws(StoreError) { try add(value) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func add(_ value: DocumentValue) throws(StoreError) {
    let key = SortKey.bytes(value)
    guard seen[key] == nil else { return }
    // A key that was spilled is never kept in memory: the first value of each key is the result.
    guard let makeSpill, spill != nil || !budget.keeps(key) else {
      seen[key] = value
      return
    }
    if spill == nil { spill = try makeSpill() }
    writer.removeAll()
    writer.value(value)
    if let failure = writer.failure { throw failure }
    try spill?.add(key, writer.bytes)
    spilled += 1
  }

  /// The values in sort order. Valid only if nothing was spilled.
  package var values: [DocumentValue] {
    precondition(spill == nil, "Spilled values require all()")
    return kept.map(\.value)
  }

  private var kept: [(key: [UInt8], value: DocumentValue)] {
    seen.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }

  /// Returns the values in sort order, including those that were spilled.
  package func all() throws -> [DocumentValue] {
    guard let spill else { return values }
    var kept = kept[...]
    var all: [DocumentValue] = []
    // Growing step by step would hold the values twice.
    all.reserveCapacity(kept.count + spilled)
    var last: [UInt8] = []
    try spill.each { key, content in
      guard !last.elementsEqual(key) else { return true }
      last = Array(key)
      while let first = kept.first, first.key.lexicographicallyPrecedes(key) {
        all.append(first.value)
        kept.removeFirst()
      }
      var reader = JSONReader(content)
      all.append(try reader.value())
      return true
    }
    all += kept.map(\.value)
    return all
  }
}
