// SPDX-License-Identifier: MIT

import NanoStore

extension ProgramExecutor {
  /// Performs a call with `await`. Calls whose async form differs only in its thread use the sync form.
  func awaiting(_ call: Call) async -> Outcome {
    do { return try await awaitedOutcome(of: call) } catch { return Outcome(error) }
  }

  private func awaitedOutcome(of call: Call) async throws -> Outcome {
    noteRestarts(call)
    switch call {
    case .insert(let name, let object, let key?):
      return .text(try text(await store[name].insert(object, key: key)))
    case .save(let name, let object, let key?):
      return .text(try text(await store[name].save(object, key: key)))
    case .saveObject(let name, let figure):
      return .text(try text(await store[name].save(figure)))
    case .update(let name, .key(let key), let changes):
      return .text(try text(await store[name].update(key, changes)))
    case .updateFound(let name, let query, let changes):
      return .count(try await store[name].find(query).update(changes))
    case .remove(let name, .key(let key)): return .flag(try await store[name].delete(key))
    case .removeFound(let name, let query):
      return .count(try await store[name].find(query).delete())
    case .get(let name, .key(let key)):
      return .text(try await store[name].get(key).map(text) ?? "none")
    case .getAll(let name, let keys): return try texts(await store[name].get(keys: keys))
    case .find(let name, let query): return try await find(store[name].find(query))
    case .search(let name, let search):
      return try texts(await search.documents(in: store[name]))
    case .aggregate(let name, let query):
      return outcome(try await store[name].find().rows(query), of: query, in: name)
    case .metadata(let name, let value):
      try await store.setMetadata(value, name)
      return .text(try await store.metadata(name)?.jsonString() ?? "none")
    case .write(let calls, _):
      return try await store.write { .several(calls.map { self.perform($0) }) }
    case .read(let calls):
      return try await store.read { .several(calls.map { self.perform($0) }) }
    case .index(let name, let index):
      try await store[name].createIndex(index)
      return .done
    case .drop(let name): return .flag(try await store[name].drop())
    case .compact:
      try await store.compact()
      return .done
    case .verify: return Outcome(try await store.verify())
    case .saveBag(let number):
      guard let bag = bag(number) else { return .text("no bag") }
      try await store.save(bag)
      return .done
    default: return perform(call)
    }
  }

  private func find(_ query: DocumentQuery) async throws -> Outcome {
    var streamed: [String] = []
    for try await document in query.stream() { streamed.append(try text(document)) }
    return .several([
      try texts(await query.fetch()), .lines(streamed), .count(try await query.count()),
      .flag(try await query.exists()), .text("\(try await query.rowIDs())"),
      .text(try await query.first().map(text) ?? "none"),
    ])
  }
}
