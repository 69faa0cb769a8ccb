// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

extension Call {
  /// The call as source text, for failure messages.
  var text: String {
    switch self {
    case .insert(let name, let object, let key): "\(name).insert(\(object.text)\(Self.key(key)))"
    case .save(let name, let object, let key): "\(name).save(\(object.text)\(Self.key(key)))"
    case .saveTyped(let name, let object, let key, let type, let version):
      "\(name).write(.save, \(object.text)\(Self.key(key)), type: \(type), version: \(version ?? 0))"
    case .saveText(let name, let json, let key): "\(name).save(json: \(json)\(Self.key(key)))"
    case .saveObject(let name, let figure): "\(name).save(\(figure))"
    case .insertDocument(let name, let given):
      "\(name).insert(Document(\(given.object.text)\(Self.key(given.key))))"
    case .insertAll(let name, let objects):
      "\(name).insert([\(objects.map(\.text).joined(separator: ", "))])"
    case .writeAll(let name, let mode, let documents):
      "\(name).\(mode)(contentsOf: [\(documents.map { $0.object.text + Self.key($0.key) }))])"
    case .edit(let name, let target, let changes, let replacing):
      "\(name).\(replacing ? "replace" : "save")(\(name).get(\(target.text)) with \(changes.text))"
    case .update(let name, let target, let changes):
      "\(name).update(\(target.text), \(changes.text))"
    case .updateFound(let name, let query, let changes):
      "\(name).find(\(query.short)).update(\(changes.text))"
    case .remove(let name, let target): "\(name).remove(\(target.text))"
    case .removeKeys(let name, let keys): "\(name).remove(keys: \(keys))"
    case .removeFound(let name, let query): "\(name).find(\(query.short)).delete()"
    case .removeAll(let name): "\(name).removeAll()"
    default: questionText ?? shapeText ?? storeText ?? bagText ?? "\(self)"
    }
  }

  private var questionText: String? {
    switch self {
    case .get(let name, let target): "\(name).get(\(target.text))"
    case .getAll(let name, let keys): "\(name).get(keys: \(keys))"
    case .find(let name, let query): "\(name).find(\(query.short)).fetch()"
    case .findText(let name, let text, let arguments):
      "\(name).find(\"\(text)\", \(arguments.map { $0.jsonString() }))"
    case .select(let name, let query, let paths):
      "\(name).find(\(query.short)).select(\(paths)).fetch()"
    case .pages(let name, let query, let size): "\(name).find(\(query.short)).page(\(size)) …"
    case .aggregate(let name, let query):
      "\(name).rows(\(query.aggregates) by \(query.groups): \(query.query.short))"
    case .distinct(let name, let path, let query):
      "\(name).find(\(query.short)).distinct(\"\(path)\")"
    case .summary(let name, let path, let query):
      "\(name).find(\(query.short)).min(\"\(path)\"), maximum, average, total"
    case .columns(let name, let query):
      "\(name).find(\(query.short)).fieldsAsColumns().fetch()"
    case .decoded(let name, let key): "\(name).get(\"\(key)\", as: Figure.self)"
    case .search(let name, let search): "\(search.json).documents(in: \(name))"
    case .ranked(let name, let query, let index):
      "\(name).search(\(query), in: \"\(index)\").results()"
    case .sql(let name, let condition): "\(name).documents(sql: … WHERE \(condition))"
    case .metadataSummary(let name): "\(name).indexes(), fullTextIndexes(), defaults() …"
    case .names: "store.collections(), metadata()"
    default: nil
    }
  }

  private var shapeText: String? {
    switch self {
    case .create(let name, let identity): "store.createCollection(\"\(name)\", \(identity))"
    case .drop(let name): "\(name).drop()"
    case .index(let name, let index):
      "\(name).createIndex(\(index.isUnique ? "unique " : "")\(index.kind) \(index.keys), \"\(index.name)\")"
    case .indexKeys(let name, let keys): "\(name).createIndex(keys: \"\(keys)\")"
    case .indexPaths(let name, let paths): "\(name).createIndex(paths: \(paths))"
    case .textIndex(let name, let index):
      "\(name).createFullTextIndex(\(index.keys), \(index.tokens), \"\(index.name)\")"
    case .dropIndex(let name, let index): "\(name).dropIndex(\"\(index)\")"
    case .dropIndexes(let name): "\(name).dropIndexes()"
    case .rebuild(let name): "\(name).rebuildIndexes()"
    case .indexing(let name, let policy): "\(name).setIndexing(.\(policy))"
    case .defaults(let name, let defaults): "\(name).setDefaults(\(defaults.text))"
    case .aliases(let name, let aliases): "\(name).setAliases(\(aliases))"
    case .queryable(let name, let fields): "\(name).addQueryableFields(\"\(fields)\")"
    case .setup(let name, let setup): "\(name).apply(\(setup.object.text))"
    default: nil
    }
  }

  private var storeText: String? {
    switch self {
    case .metadata(let name, let value):
      "store.setMetadata(\(value?.jsonString() ?? "nil"), \"\(name)\")"
    case .write(let calls, let fails):
      "store.write { \(calls.map(\.text).joined(separator: "; "))\(fails ? "; throw" : "") }"
    case .read(let calls): "store.read { \(calls.map(\.text).joined(separator: "; ")) }"
    case .enqueue(let name, let calls):
      "\(name).enqueue { \(calls.map(\.text).joined(separator: "; ")) }.wait()"
    case .awaiting(let call): "await \(call.text)"
    case .interval(let count, let shown):
      "store.saveInterval = \(count); showsUnsavedChanges = \(shown)"
    case .flush(let discarding): discarding ? "store.discardUnsavedChanges()" : "store.flush()"
    case .cache(let name, let size): "\(name).cacheSize = \(size); store.flushCache()"
    case .tune: "store.applyIndexAdvice()"
    case .compact: "store.compact()"
    case .verify: "store.verify()"
    case .statistics: "store.statistics()"
    case .reopen: "store.close(); store.reopen()"
    case .restart: "store.close(); store = Store(…)"
    case .backup(let opening): "store.backup(to: copy)" + (opening ? "; store = Store(copy)" : "")
    default: nil
    }
  }

  private var bagText: String? {
    switch self {
    case .newBag(let name): "Bag(name: \(name ?? "nil"))"
    case .bagNamed(let name): "store.bag(named: \"\(name)\")"
    case .addToBag(let bag, let name, let object): "bag\(bag).add(\(object.text), in: \(name))"
    case .addMember(let bag, let name, let key): "bag\(bag).add(\(name).get(\"\(key)\"))"
    case .addBag(let bag, let other): "bag\(bag).add(bag\(other))"
    case .removeFromBag(let bag, let key): "bag\(bag).remove(key: \"\(key)\")"
    case .removeBagFromBag(let bag, let other): "bag\(bag).remove(bag\(other))"
    case .clearBag(let bag): "bag\(bag).removeAll()"
    case .renameBag(let bag, let name): "bag\(bag).name = \(name ?? "nil")"
    case .undoBag(let bag): "bag\(bag).undo()"
    case .saveBag(let bag): "store.save(bag\(bag))"
    case .reloadBag(let bag): "bag\(bag).reload()"
    case .inflateBag(let bag, let on): "bag\(bag).\(on ? "inflate" : "deflate")()"
    case .copyBag(let bag): "bag\(bag).copy()"
    case .dropBag(let bag): "bag\(bag).delete()"
    case .bag(let bag): "bag\(bag).fetch(), saved, unsaved, removed"
    case .findInBag(let bag, let query): "bag\(bag).find(\(query.short)).fetch()"
    case .searchBag(let bag, let search): "\(search.json).documents(in: bag\(bag))"
    case .bags(let key): "store.bags(), bags(containingKey: \"\(key)\")"
    case .everyBag: "all bags, fetch(), saved, unsaved, removed"
    default: nil
    }
  }

  private static func key(_ key: String?) -> String { key.map { ", key: \"\($0)\"" } ?? "" }
}

extension Call.Target {
  fileprivate var text: String {
    switch self {
    case .key(let key): "\"\(key)\""
    case .rowID(let id): "rowID: \(id)"
    }
  }
}

extension DocumentObject {
  fileprivate var text: String { jsonString() }
}

extension [FieldChange] {
  fileprivate var text: String {
    "[" + map { ".\($0.operation) at \($0.path)" }.joined(separator: ", ") + "]"
  }
}
