// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// The related documents that a query includes under one name.
struct Inclusion: Sendable {
  var local: RelationKey
  var source: IncludingQuery
  var remote: RelationKey
  /// `nil` for the path of the local field.
  var name: String?
  /// Returns the forms in which the related documents have a local value; `nil` for the same form.
  var remoteForms: (@Sendable (DocumentValue) -> [DocumentValue])?
  /// Checks, in the snapshot of the results, that the values of both sides can be compared; `nil` if they always can.
  var check: (@Sendable (any EngineReader) throws -> Void)?

  /// The name under which results have the related documents.
  var resultName: String {
    if let name { return name }
    switch local {
    case .key: return source.query.collection.name
    case .rowID: return source.query.collection.name
    case .field(let path): return path.description
    }
  }

  /// Whether a value of the local field refers to at most one document.
  var isToOne: Bool {
    switch remote {
    case .key, .rowID: true
    case .field: false
    }
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` for a source that belongs to another store, or that a batch cannot
  ///   read; ``StoreError/Code/invalidPath``; the error of a source that no operation may use.
  func validate(in store: Store) throws(StoreError) {
    let query = source.query
    if let failure = query.collection.failure { throw failure }
    guard query.collection.store === store else {
      throw StoreError(
        .invalidArgument, "Related documents are in another store",
        [.collection: query.collection.name, .hint: "read both from the same store"])
    }
    guard query.query.after == nil, query.query.ranking == nil else {
      throw StoreError(
        .invalidArgument, "Related documents cannot have a page position or a ranking",
        [.collection: query.collection.name, .hint: "sort them by fields, and set a limit"])
    }
    try Condition.comparison(local.expression, .equal, remote.expression).validate()
    try source.validateTree()
  }
}

/// The related documents of one result.
struct RelatedDocuments {
  /// The documents, in order.
  var documents: [IncludingDocument]
  /// Whether there may be several; otherwise there is at most one.
  var isArray: Bool
}

/// Reads the related documents of results, one query for each inclusion and batch.
struct InclusionReader {
  let reader: any EngineReader

  /// The number of results whose related documents one query reads. Arbitrary: few round trips, and not too many
  /// documents in memory.
  static let batchSize = 1_000

  /// Reads the related documents of a batch.
  ///
  /// - Returns: The related documents of each result, in order.
  func related(
    _ inclusion: Inclusion, to documents: [Document], in collection: String
  ) throws -> [RelatedDocuments] {
    let localDefaults = FieldDefaults(try reader.settings(of: collection).defaults)
    let locals = RelationValues(inclusion.local, localDefaults)
    var keys: [[[UInt8]]] = []
    var areArrays: [Bool] = []
    keys.reserveCapacity(documents.count)
    areArrays.reserveCapacity(documents.count)
    var wanted: [[UInt8]: DocumentValue] = [:]
    var order: [DocumentValue] = []
    for document in documents {
      let (found, isArray) = try locals.values(document)
      let values = inclusion.remoteForms.map { found.flatMap($0) } ?? found
      areArrays.append(!inclusion.isToOne || isArray)
      keys.append(
        values.map { value in
          let key = SortKey.bytes(value)
          if wanted.updateValue(value, forKey: key) == nil { order.append(value) }
          return key
        })
    }
    guard !order.isEmpty else {
      return areArrays.map { RelatedDocuments(documents: [], isArray: $0) }
    }
    let found = try read(inclusion, order)
    let included = try inclusion.source.including(found.documents, reader)
    return zip(keys, areArrays).map { keys, isArray in
      RelatedDocuments(documents: page(inclusion, of: keys, found, included), isArray: isArray)
    }
  }

  /// The related documents of a batch, in order, and their positions by their remote values.
  private struct Found {
    var documents: [Document] = []
    var positions: [[UInt8]: [Int]] = [:]
    /// The place of each document in the order; nil if they are in order.
    var ranks: [Int]?

    mutating func note(_ keys: [[UInt8]], _ position: Int) {
      for key in keys where positions[key]?.last != position {
        positions[key, default: []].append(position)
      }
    }
  }

  private func read(_ inclusion: Inclusion, _ values: [DocumentValue]) throws -> Found {
    let source = inclusion.source.query
    let name = source.collection.name
    var found = Found()
    var keys: [[[UInt8]]] = []
    let defaults = FieldDefaults(try reader.settings(of: name).defaults)
    let remotes = RelationValues(inclusion.remote, defaults)
    var query = source.query
    (query.limit, query.offset, query.fields) = (nil, 0, nil)
    let isRelated = Condition.related(
      .reading(inclusion.remote.expression, RelatedMatches(of: values)))
    query.condition = query.condition == .constant(true) ? isRelated : isRelated && query.condition
    func add(_ stored: StoredDocument) throws -> Bool {
      let document = Document(stored, in: name)
      keys.append(try remotes.values(document).values.map { SortKey.bytes($0) })
      found.documents.append(document)
      return true
    }
    guard query.orderings.isEmpty else {
      try reader.find(query, in: name, add)
      for position in keys.indices { found.note(keys[position], position) }
      return found
    }
    try reader.findInAnyOrder(query, in: name, add)
    let order = found.documents.indices.sorted {
      (found.documents[$0].rowID ?? 0) < (found.documents[$1].rowID ?? 0)
    }
    for position in order { found.note(keys[position], position) }
    if !inclusion.isToOne {
      found.ranks = order.enumerated().reduce(into: order) { $0[$1.1] = $1.0 }
    }
    return found
  }

  /// Returns the documents related to one result.
  private func page(
    _ inclusion: Inclusion, of keys: [[UInt8]], _ found: Found, _ included: [IncludingDocument]
  ) -> [IncludingDocument] {
    let query = inclusion.source.query.query
    var positions: [Int]
    if keys.count == 1 {
      positions = found.positions[keys[0]] ?? []
    } else {
      var seen: Set<Int> = []
      positions = keys.flatMap { found.positions[$0] ?? [] }.filter { seen.insert($0).inserted }
      // The order of an array is that of its references; otherwise that of the query.
      if !inclusion.isToOne || !query.orderings.isEmpty {
        positions.sort { (found.ranks?[$0] ?? $0) < (found.ranks?[$1] ?? $1) }
      }
    }
    let page = positions.dropFirst(query.offset)
    return page.prefix(query.limit ?? page.count).map { included[$0] }
  }
}

/// Reads the values that relate documents: those of a field, or the key or row ID.
private struct RelationValues {
  private let key: RelationKey
  private let defaults: FieldDefaults?

  init(_ key: RelationKey, _ defaults: FieldDefaults?) {
    self.key = key
    self.defaults = defaults
  }

  /// Returns the values of a document, and whether they are from an array, however many there are.
  func values(_ document: Document) throws -> (values: [DocumentValue], isArray: Bool) {
    switch key {
    case .key: return (document.key.map { [.string($0)] } ?? [], false)
    case .rowID: return (document.rowID.map { [.int($0)] } ?? [], false)
    case .field(let path):
      if defaults == nil, path.components.count == 1, let value = document[path] {
        // Only arrays have several values.
        guard case .array = value else { return (value.canRelate ? [value] : [], false) }
      }
      var subject = DocumentSubject(try document.object())
      subject.defaults = defaults
      return (subject.values(at: path).filter(\.canRelate), subject.meetsArray(at: path))
    }
  }
}
