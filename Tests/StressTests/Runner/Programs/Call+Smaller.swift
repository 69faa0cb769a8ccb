// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

extension Call {
  /// The calls that can replace this call in a smaller program.
  var smaller: [[Call]] {
    switch self {
    case .insert(let name, let object, let key):
      object.smaller.map { [.insert(name, $0, key: key)] }
    case .save(let name, let object, let key):
      object.smaller.map { [.save(name, $0, key: key)] }
        + (key == nil ? [] : [[.insert(name, object, key: key)]])
    case .saveTyped(let name, let object, let key, let type, let version):
      [[.save(name, object, key: key)]]
        + object.smaller.map { [.saveTyped(name, $0, key: key, type: type, version: version)] }
    case .saveText(let name, let json, let key):
      (try? DocumentObject(json: json)).map { [[.save(name, $0, key: key)]] } ?? []
    case .insertDocument(let name, let given): [[.insert(name, given.object, key: given.key)]]
    case .insertAll(let name, let objects):
      Shrinker.list(objects, \.smaller).map { [.insertAll(name, $0)] }
        + (objects.count == 1 ? [[.insert(name, objects[0], key: nil)]] : [])
    case .writeAll(let name, let mode, let documents):
      Shrinker.list(documents) { document in
        document.object.smaller.map { Keyed(object: $0, key: document.key) }
      }.map { [.writeAll(name, mode, $0)] }
        + [documents.map { .save(name, $0.object, key: $0.key) }]
    case .edit(let name, let target, let changes, let replacing):
      ScriptShrinker.smaller(changes) { _ in [] }.map {
        [.edit(name, target, $0, replacing: replacing)]
      }
        + [[.update(name, target, changes)]]
    case .update(let name, let target, let changes):
      ScriptShrinker.smaller(changes) { _ in [] }.map { [.update(name, target, $0)] }
    case .updateFound(let name, let query, let changes):
      query.smaller.map { [.updateFound(name, $0, changes)] }
        + ScriptShrinker.smaller(changes) { _ in [] }.map { [.updateFound(name, query, $0)] }
    case .removeKeys(let name, let keys):
      [keys.map { .remove(name, .key($0)) }]
    case .removeFound(let name, let query): query.smaller.map { [.removeFound(name, $0)] }
    case .find(let name, let query): query.smaller.map { [.find(name, $0)] }
    case .select(let name, let query, let paths):
      [[.find(name, query)]] + query.smaller.map { [.select(name, $0, paths)] }
        + Shrinker.list(paths) { _ in [] }.map { [.select(name, query, $0)] }
    case .pages(let name, let query, let size):
      [[.find(name, query)]] + query.smaller.map { [.pages(name, $0, size: size)] }
    case .aggregate(let name, let query): query.smaller.map { [.aggregate(name, $0)] }
    case .summary(let name, let path, let query):
      query.smaller.map { [.summary(name, path, $0)] }
    case .columns(let name, let query):
      [[.find(name, query)]] + query.smaller.map { [.columns(name, $0)] }
    case .distinct(let name, let path, let query):
      query.smaller.map { [.distinct(name, path, $0)] }
    default: smallerShape
    }
  }

  private var smallerShape: [[Call]] {
    switch self {
    case .index(let name, let index):
      Shrinker.list(index.columns) { _ in [] }.filter { !$0.isEmpty }.map {
        [.index(name, IndexDefinition(columns: $0, isUnique: index.isUnique, kind: index.kind))]
      }
    case .setup(let name, let setup): setup.smaller.map { [.setup(name, $0)] }
    case .defaults(let name, let object): object.smaller.map { [.defaults(name, $0)] }
    case .metadata(let name, let value?):
      [[.metadata(name, nil)]] + value.smaller.map { [.metadata(name, $0)] }
    case .write(let calls, let fails):
      (fails ? [] : [calls]) + Shrinker.calls(calls).map { [.write($0, fails: fails)] }
    case .read(let calls): [calls] + Shrinker.calls(calls).map { [.read($0)] }
    case .enqueue(let name, let calls):
      [calls] + Shrinker.calls(calls).map { [.enqueue(name, $0)] }
    case .awaiting(let call):
      [[call]] + call.smaller.filter { $0.count == 1 }.map { [.awaiting($0[0])] }
    case .addToBag(let bag, let name, let object):
      object.smaller.map { [.addToBag(bag, name, $0)] }
    case .findInBag(let bag, let query): query.smaller.map { [.findInBag(bag, $0)] }
    case .restart: [[.reopen]]
    case .backup(opening: true): [[.restart], [.backup(opening: false)]]
    default: []
    }
  }
}

/// Lists without each element, and with each element smaller.
private enum Shrinker {
  static func list<Element>(
    _ list: [Element], _ shrink: (Element) -> [Element]
  ) -> [[Element]] {
    ScriptShrinker.smaller(list, shrink)
  }

  static func calls(_ calls: [Call]) -> [[Call]] {
    list(calls) { _ in [] }
      + calls.indices.flatMap { index in
        calls[index].smaller.map { smaller in
          var copy = calls
          copy.replaceSubrange(index...index, with: smaller)
          return copy
        }
      }
  }
}

extension DocumentObject {
  fileprivate var smaller: [DocumentObject] {
    DocumentValue.object(self).smaller.compactMap(\.object)
  }
}

extension AggregateQuery {
  fileprivate var smaller: [AggregateQuery] {
    query.smaller.map { AggregateQuery($0, groups: groups, aggregates: aggregates) }
      + ScriptShrinker.smaller(aggregates) { _ in [] }.filter { !$0.isEmpty }
      .map { AggregateQuery(query, groups: groups, aggregates: $0) }
      + ScriptShrinker.smaller(groups) { _ in [] }
      .map { AggregateQuery(query, groups: $0, aggregates: aggregates) }
  }
}

extension CollectionSetup {
  fileprivate var smaller: [CollectionSetup] {
    var all: [CollectionSetup] = []
    func add(_ change: (inout CollectionSetup) -> Void) {
      var copy = self
      change(&copy)
      if copy != self { all.append(copy) }
    }
    add { $0.indexes = [] }
    add { $0.textIndexes = [] }
    add { $0.defaults = nil }
    add { $0.aliases = nil }
    add { $0.queryableFields = [] }
    return all
  }
}
