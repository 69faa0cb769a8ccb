// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoQuery

extension Operation {
  /// Reduced versions of the operation.
  var smaller: [Operation] {
    switch self {
    case .insert(let document): document.smaller.map { .insert($0) }
    case .save(let document): document.smaller.map { .save($0) } + [.insert(document)]
    case .replace(let identity, let document):
      document.smaller.map { .replace(identity, $0) } + [.insert(document)]
    case .deleteMatching(let query):
      query.smaller.map { .deleteMatching($0) } + [.deleteMatching(Query())]
    case .createIndex(let index):
      ScriptShrinker.smaller(index.columns) { _ in [] }.filter { !$0.isEmpty }.map {
        .createIndex(IndexDefinition(columns: $0, isUnique: index.isUnique, kind: index.kind))
      }
    case .rolledBack(let operations):
      ScriptShrinker.smaller(operations) { $0.smaller }.map { .rolledBack($0) }
    case .setDefaults(let defaults):
      ScriptShrinker.smaller(Array(defaults)) { _ in [] }.map {
        .setDefaults(DocumentObject($0.map { ($0.name, $0.value) }))
      }
    case .delete, .dropIndex, .setIndexing, .rebuildIndexes: []
    }
  }

  /// A one-line description for reports.
  var short: String {
    switch self {
    case .insert(let document): "insert \(document.short)"
    case .save(let document): "save \(document.short)"
    case .replace(let identity, let document): "replace \(identity) \(document.short)"
    case .delete(let identity): "delete \(identity)"
    case .deleteMatching(let query): "delete \(query.short)"
    case .createIndex(let index):
      "index \(index.name) on \(index.columns.map { $0.path.description }) (\(index.kind))"
    case .dropIndex(let name): "drop \(name)"
    case .setDefaults(let defaults):
      "defaults \(DocumentValue.object(defaults).jsonString())"
    case .setIndexing(let policy): "indexing \(policy.rawValue)"
    case .rebuildIndexes: "rebuild"
    case .rolledBack(let operations): "rolled back \(operations.map(\.short))"
    }
  }
}

extension GeneratedDocument {
  var smaller: [GeneratedDocument] {
    var plain = self
    (plain.key, plain.type, plain.version, plain.added) = (nil, nil, nil, 0)
    return (plain == self ? [] : [plain])
      + DocumentValue.object(object).smaller.compactMap(\.object).map { object in
        var copy = self
        copy.object = object
        return copy
      }
  }

  var short: String {
    var writer = JSONWriter()
    writer.object(object)
    return [key.map { "key \($0)" }, type, version.map { "version \($0)" }, writer.text]
      .compactMap(\.self).joined(separator: " ")
  }
}

extension DocumentValue {
  package var smaller: [DocumentValue] {
    switch self {
    case .array(let array): return ScriptShrinker.smaller(array, \.smaller).map { .array($0) }
    case .object(let object):
      let fields = object.map { ($0.name, $0.value) }
      return ScriptShrinker.smaller(fields) { field in field.1.smaller.map { (field.0, $0) } }
        .map { .object(DocumentObject($0)) }
    case .string(let text) where text.utf8.count > 2: return [.string(String(text.dropLast()))]
    default: return []
    }
  }
}
