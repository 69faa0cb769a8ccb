// SPDX-License-Identifier: MIT

import NanoStore

extension NTJsonStoreCaseRunner {
  /// Performs an operation on documents; returns nil for operations of other kinds.
  func performDocuments(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "insert":
      let document = try collection(step).insert(object(step["json"]))
      bind(step, document)
      return ["ok": true, "rowid": .int(document.rowID ?? 0), "error": .null]
    case "insertBatch":
      let objects = try (step["items"]?.array ?? []).map { try object($0) }
      let ids = try collection(step).insert(objects)
      return ["ok": true, "count": .int(Int64(ids.count)), "error": .null]
    case "insertKeepsInput":
      let given = try object(step["json"])
      let kept = given
      try collection(step).insert(given)
      return ["unchanged": .bool(given == kept), "ok": true]
    case "updateJson":
      try collection(step).replace(Document(object(step["json"])))
      return ["ok": true, "error": .null]
    case "update":
      var document = try item(step)
      for (name, value) in try object(step["set"]) {
        document[FieldPath(components: [name])] = value
      }
      let updated = try collection(step).replace(document)
      bind(step, updated)
      return ["ok": true, "error": .null]
    case "remove":
      let document = try step["item"] == nil ? Document(documentToRemove(step)) : item(step)
      // Removing a missing document is not an error.
      _ = try collection(step).delete(document)
      return ["ok": true, "error": .null]
    case "removeWhere": return ["value": .int(Int64(try query(step).delete())), "error": .null]
    case "removeAll":
      return ["value": .int(Int64(try collection(step).deleteAll())), "error": .null]
    case "count": return ["value": .int(Int64(try query(step).count())), "error": .null]
    case "find": return try found(query(step).fetch(), step)
    case "findOne":
      let document = try query(step).first()
      bind(step, document)
      return try result(document, step)
    default: return nil
    }
  }

  private func documentToRemove(_ step: DocumentObject) throws -> DocumentObject {
    if let rowID = step["rowid"] { return [DocumentObject.rowIDName: rowID] }
    return try object(step["json"])
  }

  func object(_ raw: DocumentValue?) throws -> DocumentObject {
    try value(raw ?? .null).object ?? [:]
  }

  func item(_ step: DocumentObject) throws -> Document {
    let name = step["item"]?.string ?? ""
    if let document = documents[name] { return document }
    // A copy of a value is the value; a mutable copy in the original was a new dictionary.
    let copy = "copy of "
    guard let found = name.firstRange(of: copy),
      let document = documents[String(name[found.upperBound...])]
    else { throw failure("no document named \(name)") }
    return found.lowerBound == name.startIndex ? document : try Document(document.object())
  }

  private func bind(_ step: DocumentObject, _ document: Document?) {
    if let name = step["bind"]?.string { documents[name] = document }
  }

  /// Returns the query of a step. The original read missing arguments as null and ignored surplus
  /// ones; here both are errors, so the arguments are padded or truncated.
  func query(_ step: DocumentObject) throws -> DocumentQuery {
    let collection = try collection(step)
    let text = step["where"]?.string ?? ""
    var arguments = try (step["args"]?.array ?? []).map { try value($0) }
    if let count = try? QueryText(collection.replacingAliases(in: text)).positionCount {
      while arguments.count < count { arguments.append(.null) }
      arguments.removeLast(arguments.count - count)
    }
    var query = try collection.find(text, arguments: arguments)
    if let order = step["orderBy"]?.string { query = try query.sorted(byText: order) }
    if let limit = step["limit"]?.int, limit > 0 { query = query.limit(Int(limit)) }
    recordFields(query, of: collection)
    return query.fieldsAsColumns()
  }

  private func recordFields(_ query: DocumentQuery, of collection: DocumentCollection) {
    let paths =
      query.query.condition.fields + query.query.orderings.flatMap(\.expression.fields)
    queriedFields[collection.name.lowercased(), default: []].formUnion(paths.map(\.description))
  }

  private func found(_ documents: [Document], _ step: DocumentObject) throws -> DocumentObject {
    func columns(_ wanted: DocumentValue?, _ path: (String) -> FieldPath) -> DocumentValue {
      .object(
        DocumentObject(
          (wanted?.object ?? [:]).map { field in
            (field.name, .array(documents.map { $0[path(field.name)] ?? .null }))
          }))
    }
    let expected = step["expect"]?.object ?? [:]
    var lacks = DocumentObject()
    for (name, uids) in expected["lacks"]?.object ?? [:] {
      let lacking = documents.filter { $0[FieldPath(components: [name])] == nil }
      lacks[name] = .array(
        (uids.array ?? []).filter { uid in lacking.contains { $0["uid"] == uid } })
    }
    return [
      "ok": true, "error": .null, "isNil": false, "count": .int(Int64(documents.count)),
      "field": columns(expected["field"]) { FieldPath(components: [$0]) },
      "pathField": columns(expected["pathField"]) { FieldPath($0) }, "lacks": .object(lacks),
      "rowids": .array(documents.map { .int($0.rowID ?? 0) }),
      "items": .array(try documents.map { .object(try $0.object()) }),
    ]
  }

  /// Returns the fields of a document under the names that steps expect.
  private func result(_ document: Document?, _ step: DocumentObject) throws -> DocumentObject {
    // Expectations name fields, which a document may lack.
    let wanted = step["expect"]?.object?.names ?? []
    let lacking = DocumentObject(
      wanted.filter { !["ok", "error", "isNil"].contains($0) }.map { ($0, DocumentValue.null) })
    guard let document else {
      var result = lacking
      result["isNil"] = true
      return result
    }
    var fields = try document.object()
    let names = fields.names
    fields[DocumentObject.rowIDName] = document[DocumentObject.rowIDName]
    fields["isNil"] = false
    fields["error"] = .null
    fields["json"] = .object(try document.object())
    fields["absent"] = .array(names.map { .string($0) })
    for (name, value) in lacking where fields[name] == nil { fields[name] = value }
    return fields
  }
}
