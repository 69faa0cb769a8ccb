// SPDX-License-Identifier: MIT

import NanoStore

extension ProgramExecutor {
  /// Performs a call on collections and their indexes; returns nil for other calls.
  func performSchemaChange(_ call: Call) throws -> Outcome? {
    switch call {
    case .create(let name, let identity):
      try store.createCollection(name, identity: identity)
    case .drop(let name): return .flag(try store[name].drop())
    case .index(let name, let index): try store[name].createIndex(index)
    case .indexKeys(let name, let keys):
      return .text(try store[name].createIndex(keys: keys).name)
    case .indexPaths(let name, let paths):
      let index = try store[name].createIndex(paths: paths)
      return .text("\(index.name) \(index.kind)")
    case .textIndex(let name, let index):
      return .text(
        try store[name].createFullTextIndex(
          fields: index.fields.map(\.description), tokens: index.tokens, name: index.name
        ).name)
    case .dropIndex(let name, let index): return .flag(try store[name].dropIndex(index))
    case .dropIndexes(let name): return .count(try dropIndexes(name))
    case .rebuild(let name): try store[name].rebuildIndexes()
    case .indexing(let name, let policy): try store[name].setIndexing(policy)
    case .defaults(let name, let defaults): try store[name].setDefaults(defaults)
    case .aliases(let name, let aliases): try store[name].setAliases(aliases)
    case .queryable(let name, let fields): try store[name].addQueryableFields(fields)
    case .setup(let name, let setup): try store[name].apply(setup)
    default: return nil
    }
    return .done
  }

  /// Returns the number of dropped indexes that were declared.
  private func dropIndexes(_ name: String) throws -> Int {
    let collection = store[name]
    let adaptive = try collection.indexes().filter { $0.origin == .adaptive }.count
    let dropped = try collection.dropIndexes()
    return mode.indexTuning == .off ? dropped.count - adaptive : 0
  }
}
