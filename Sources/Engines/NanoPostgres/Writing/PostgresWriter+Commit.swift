// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension PostgresWriter {
  /// Returns the statements that write the new paths of a collection.
  func pendingPaths(_ table: WriterTable) -> [PostgresStatement] {
    guard !table.paths.changed.isEmpty else { return [] }
    table.hasNewDefinitions = true
    var entries = table.paths.takeChanged().map { node in
      (table.paths.path(of: node).text, Int64(table.paths.nodes[Int(node)].types))
    }
    // Transactions that add the same paths wait for each other in one order.
    entries.sort { $0.0.isBefore($1.0) }
    let hasDecimals = entries.contains { ObservedTypes(rawValue: Int($0.1)).contains(.decimal) }
    return (hasDecimals ? [PostgresSchema(names: names).raisingFormat] : []) + [
      PostgresStatement(
        """
        INSERT INTO \(names.qualified("nano_paths")) AS p (collection, path, types) \
        SELECT $1, u.path, u.types FROM unnest($2::text[], $3::bigint[]) AS u(path, types) \
        ON CONFLICT (collection, md5(path)) DO UPDATE SET types = p.types | excluded.types
        """,
        [
          .exact(table.collection.folded), .utf8s(entries.map { Array($0.0.utf8) }),
          .ints(entries.map(\.1)),
        ])
    ]
  }

  /// Returns the statements that write what the transaction notes of a collection.
  private func ending(_ table: WriterTable) -> [PostgresStatement] {
    var statements = pendingPaths(table)
    if table.hasNewDefinitions {
      statements.append(
        PostgresStatement(
          "UPDATE \(names.qualified("nano_collections")) SET generation = generation + 1 WHERE folded = $1",
          [.exact(table.collection.folded)]))
    }
    if table.hasNewRowIDs, let next = table.nextRowID {
      statements.append(
        PostgresStatement(
          "SELECT setval($1::text::regclass, $2)",
          [.text(table.collection.sequence), .int(next - 1)]))
    }
    return statements
  }

  /// The names of the changed collections; `nil` if any may have changed. A name that occurs more than once is that of a
  /// collection in which any document may have changed, even if the change feed has some that did.
  private var changedNames: [ExactName]? {
    if ranUserWrite { return nil }
    let documents = tables.filter { $0.value.change != nil }.map(\.key)
    let others = tables.filter { $0.value.hasUnlistedChanges }.map(\.key) + dropped.keys
    return documents + others + others
  }

  /// Commits the transaction. Does nothing if nothing was written.
  func commit() throws {
    guard session.hasBegun || session.failure != nil else { return }
    if let failure = session.failure { throw failure.error() }
    var statements: [PostgresStatement] = []
    for (_, table) in tables.sorted(by: { $0.key.text.isBefore($1.key.text) }) {
      if table.isChanged { noteWrite() }
      statements += ending(table)
    }
    guard hasWritten else { return }
    let token = TransactionToken(session)
    do {
      let results = try session.run(
        statements + [token.statement(core, changed: changedNames), PostgresStatement("COMMIT")])
      session.noteEnded()
      guard results.last?.command == "COMMIT" else {
        throw StoreError(.database, "The server rolled back the transaction")
      }
      stamp = results[results.count - 2].int(0, 0)
    } catch {
      guard let failure = session.failure, failure.isConnectionLoss else { throw error }
      session.noteEnded()
      session.release()
      stamp = try token.resolve(failure, core)
    }
    noteCommitted()
    core.tokens.noteCommit(core)
  }

  private func noteCommitted() {
    var changes: [Change] = dropped.values.map { Change($0, nil) }
    for (folded, table) in tables {
      if let change = table.change { changes.append(change) }
      if table.hasNewDefinitions {
        core.cache.invalidate(folded)
      } else {
        core.cache.checkInPaths(
          table.paths, of: table.collection, generation: table.collection.generation)
      }
    }
    observedCommit = ranUserWrite ? .everything : changes.isEmpty ? nil : Commit(changes)
  }
}
