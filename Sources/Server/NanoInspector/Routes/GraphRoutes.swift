// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoServer
import NanoStoreCore

/// A document with the documents that it refers to and that refer to it, for a diagram.
extension Inspector {
  /// Returns a document and those that it refers to by their key or row ID.
  func neighbors(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let (rowID, limit) = try (Self.rowID(request), Self.limit(request))
    return try await store.read { [store] in
      guard let center = try collection.get(rowID: rowID) else {
        throw RouteError.missing("The document")
      }
      let names = try Self.collections(of: store)
      let rules = ReferenceRules(collections: names, links: try Self.links(request))
      let references = References(of: try center.object(), in: collection.name, rules)
      var nodes = GraphNodes(limit: limit, center: center.key)
      for reference in references.all {
        let path = reference.path.text
        for (name, found) in try Self.find(reference.target, in: names, store)
        where found.rowID != rowID || !name.hasSameBytes(as: collection.name) {
          nodes.add(found, of: name, path: path)
        }
      }
      return [
        "center": .fields(GraphNodes.fields(center, of: collection.name)), "nodes": nodes.wire,
        "hasMore": .bool(nodes.hasMore),
        "isComplete": .bool(references.all.count < References.maximum),
        "integers": .strings(references.integers.map(\.text)),
      ]
    }
  }

  /// Returns the documents that refer to a document.
  func referrers(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let (rowID, limit) = try (Self.rowID(request), Self.limit(request))
    return try await store.read { [store] in
      guard let center = try collection.get(rowID: rowID) else {
        throw RouteError.missing("The document")
      }
      let names = try Self.collections(of: store)
      let rules = ReferenceRules(collections: names, links: try Self.links(request))
      var nodes = GraphNodes(limit: limit, center: center.key)
      var isComplete = true
      for name in names {
        for condition in try Self.conditions(
          on: center, of: collection.name, in: name, store, rules)
        {
          let query = store[name].find(condition)
          var position: PagePosition?
          var examined = 0
          repeat {
            let page = try query.after(position).page(max(limit, Self.candidatePage))
            for document in page.documents
            where document.rowID != rowID || !name.hasSameBytes(as: collection.name) {
              try Interruption.current?.check()
              let references = References(of: try document.object(), in: name, rules)
              for reference in references.all
              where Self.isTarget(reference.target, center, of: collection.name) {
                nodes.add(document, of: name, path: reference.path.text)
              }
            }
            position = page.next
            examined += page.documents.count
          } while position != nil && !nodes.hasMore && examined < Self.maximumCandidates
          if position != nil, !nodes.hasMore { isComplete = false }
        }
      }
      return [
        "nodes": nodes.wire, "hasMore": .bool(nodes.hasMore || !isComplete),
        "isComplete": .bool(isComplete),
      ]
    }
  }

  /// Returns conditions that all referring documents of a collection satisfy, and few others.
  private static func conditions(
    on center: Document, of target: String, in name: String, _ store: Store,
    _ rules: ReferenceRules
  ) throws -> [Condition] {
    var conditions: [Condition] = []
    if let key = center.key {
      conditions.append(
        .leaf(.comparison(.field(.element), .equal, .value(.string(key)))))
    }
    guard let rowID = center.rowID else { return conditions }
    let row = QueryExpression.value(.int(rowID))
    let paths = try store[name].observedPaths().prefix(maximumPaths)
    for observed in paths where observed.types.contains(.int) {
      let path = SurveyPath(catalog: observed.path)
      guard let field = path.field else { continue }
      let isNamed = rules.targets(path, in: name).contains { $0.hasSameBytes(as: target) }
      let isRow = Condition.comparison(.field(field), .equal, row)
      if isNamed {
        conditions.append(isRow)
      } else if let collection = mixedCollection(path) {
        let name = QueryExpression.value(.string(target))
        conditions.append(.all([isRow, .comparison(.field(collection), .equal, name)]))
      }
    }
    return conditions
  }

  /// Returns the path of the collection's name if a path may be that of a row ID in a relationship to objects of any
  /// class.
  private static func mixedCollection(_ path: SurveyPath) -> FieldPath? {
    guard path.names.last?.hasSameBytes(as: "id") == true else { return nil }
    return SurveyPath(Array(path.steps.dropLast())).appending(ExactName("collection")).field
  }

  /// The number of documents that are examined for each condition, because most of them may have the row ID in another
  /// relationship; arbitrary.
  private static let maximumCandidates = 1_000
  /// The minimum number of documents that are read at a time.
  private static let candidatePage = 100

  /// The number of paths of a collection that are examined, as in the path catalog of completion.
  private static let maximumPaths = 2_000

  private static func isTarget(
    _ target: References.Target, _ center: Document, of collection: String
  ) -> Bool {
    switch target {
    case .key(let key): center.key?.hasSameBytes(as: key) ?? false
    case .row(let name, let rowID):
      rowID == center.rowID && name.hasSameBytes(as: collection)
    }
  }

  private static func find(
    _ target: References.Target, in names: [String], _ store: Store
  ) throws -> [(collection: String, document: Document)] {
    switch target {
    case .key(let key):
      // A text that no key can have belongs to no document.
      return names.compactMap { name in (try? store[name].get(key)).map { (name, $0) } }
    case .row(let name, let rowID):
      guard names.contains(where: { $0.hasSameBytes(as: name) }),
        let found = try store[name].get(rowID: rowID)
      else { return [] }
      return [(name, found)]
    }
  }

  private static func collections(of store: Store) throws -> [String] {
    try store.collections().filter { !$0.isInternal }.map(\.name)
  }

  private static func rowID(_ request: ServerRequest) throws -> Int64 {
    guard let rowID = try Int64(request.required("rowID")) else {
      throw RouteError.invalid("rowID", "a row ID")
    }
    return rowID
  }

  private static func limit(_ request: ServerRequest) throws -> Int {
    try request.integer("size", in: 1...200, default: 10)
  }

  /// The links of a page: arrays of a collection, a path and the collection that it refers to, as JSON.
  private static func links(_ request: ServerRequest) throws -> [ReferenceRules.Link] {
    guard let text = request["links"] else { return [] }
    let list = try DocumentObject(json: "{\"links\":\(text)}", dialect: .plain)
    return try (list["links"]?.array ?? []).map { link in
      let parts = link.array?.compactMap(\.string) ?? []
      guard parts.count == 3 else {
        throw RouteError.invalid("links", "arrays of a collection, a path and a collection")
      }
      return ReferenceRules.Link(
        collection: ExactName(parts[0]), path: parts[1], target: parts[2])
    }
  }
}
