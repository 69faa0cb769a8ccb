// SPDX-License-Identifier: MIT

/// A history of transactions that append unique numbers to lists and read lists, which shows whether they were
/// isolated.
///
/// A list tells in which order its numbers were appended, so the dependencies between transactions follow from what they
/// read. The transactions were serializable if these dependencies have no cycle. After Kingsbury and Alvaro, "Elle:
/// Inferring Isolation Anomalies from Experimental Observations" (VLDB 2020); the anomalies have the names of Adya's
/// thesis "Weak Consistency" (MIT 1999).
package struct ListHistory: Sendable {
  package enum Operation: Sendable, Equatable {
    case append(list: Int, Int)
    case read(list: Int, [Int])
  }

  package enum Outcome: Sendable {
    case committed, aborted
    /// Committed or aborted: the response was lost.
    case unknown
  }

  package struct Transaction: Sendable {
    package var operations: [Operation]
    package var outcome: Outcome

    package init(_ operations: [Operation], _ outcome: Outcome = .committed) {
      self.operations = operations
      self.outcome = outcome
    }
  }

  package enum Anomaly: String, Sendable, Hashable, CaseIterable {
    /// A number was read whose transaction was aborted (G1a).
    case abortedRead
    /// A list was read in a state that its transaction changed again (G1b).
    case intermediateRead
    /// A transaction did not read what it had read or appended itself.
    case internalInconsistency
    /// Two reads of a list do not agree on the order of its numbers.
    case incompatibleOrder
    /// A number was committed, and is missing in the final lists.
    case lostAppend
    /// A list has a number that no transaction appended to it.
    case unknownNumber
    /// A number is in a list twice.
    case duplicate
    /// A cycle of writes (G0).
    case writeCycle
    /// A cycle of writes and reads of them (G1c).
    case circularInformation
    /// A cycle with one read that a later write overtook: a lost update or a read of two states (G-single).
    case singleAntidependency
    /// A cycle with several such reads, such as write skew (G2).
    case antidependencyCycle
  }

  private let transactions: [Transaction]
  /// The final lists.
  private let lists: [Int: [Int]]
  /// The list and the transaction of each appended number.
  private var writers: [Int: (list: Int, transaction: Int)] = [:]
  /// Which transactions were committed. One whose response was lost was committed if one of its numbers was read.
  private var isCommitted: [Bool]
  package private(set) var anomalies: Set<Anomaly> = []

  /// The number of transactions that appended numbers and were committed.
  package var committedAppends: Int {
    transactions.count { transaction in
      transaction.outcome == .committed
        && transaction.operations.contains { if case .append = $0 { true } else { false } }
    }
  }

  /// Checks a history.
  ///
  /// - Parameter lists: The lists after all transactions have ended.
  package init(_ transactions: [Transaction], final lists: [Int: [Int]]) {
    self.transactions = transactions
    self.lists = lists
    isCommitted = transactions.map { $0.outcome == .committed }
    for (number, transaction) in transactions.enumerated() {
      for case .append(let list, let value) in transaction.operations {
        writers[value] = (list, number)
      }
    }
    noteReads()
    checkOperations()
    var graph = DependencyGraph(count: transactions.count)
    for (number, transaction) in transactions.enumerated() where isCommitted[number] {
      addDependencies(of: number, transaction, to: &graph)
    }
    addWrites(to: &graph)
    anomalies.formUnion(graph.cycles())
  }

  /// Checks who appended the numbers in the final lists, and those that committed transactions read.
  private mutating func noteReads() {
    var pending = transactions.indices.filter { isCommitted[$0] }
    for (list, values) in lists {
      if Set(values).count < values.count { anomalies.insert(.duplicate) }
      for value in values { noteRead(value, of: list, &pending) }
    }
    while let number = pending.popLast() {
      for case .read(let list, let values) in transactions[number].operations {
        for value in values { noteRead(value, of: list, &pending) }
      }
    }
  }

  /// - Parameter pending: The committed transactions whose reads have not been noted.
  private mutating func noteRead(_ value: Int, of list: Int, _ pending: inout [Int]) {
    guard let (appended, writer) = writers[value], appended == list else {
      anomalies.insert(.unknownNumber)
      return
    }
    switch transactions[writer].outcome {
    case .committed: break
    case .aborted: anomalies.insert(.abortedRead)
    case .unknown:
      guard !isCommitted[writer] else { return }
      isCommitted[writer] = true
      pending.append(writer)
    }
  }

  /// Compares each read and append with the final lists.
  private mutating func checkOperations() {
    let final = lists.mapValues { Set($0) }
    for number in transactions.indices where isCommitted[number] { checkOperations(number, final) }
  }

  private mutating func checkOperations(_ number: Int, _ final: [Int: Set<Int>]) {
    var expected: [Int: [Int]] = [:]
    var own: [Int: [Int]] = [:]
    for operation in transactions[number].operations {
      switch operation {
      case .append(let list, let value):
        if final[list]?.contains(value) != true { anomalies.insert(.lostAppend) }
        expected[list]?.append(value)
        own[list, default: []].append(value)
      case .read(let list, let values):
        if let known = expected[list], known != values { anomalies.insert(.internalInconsistency) }
        if !values.reversed().starts(with: own[list, default: []].reversed()) {
          anomalies.insert(.internalInconsistency)
        }
        expected[list] = values
        check(values, of: list, readBy: number, own[list, default: []].count)
      }
    }
  }

  private mutating func check(_ values: [Int], of list: Int, readBy reader: Int, _ own: Int) {
    let foreign = values.dropLast(own)
    if !(lists[list] ?? []).starts(with: foreign) { anomalies.insert(.incompatibleOrder) }
    guard let last = foreign.last, let writer = writers[last]?.transaction, writer != reader else {
      return
    }
    let appended = transactions[writer].operations.compactMap { operation -> Int? in
      guard case .append(list, let value) = operation else { return nil }
      return value
    }
    if appended.last != last { anomalies.insert(.intermediateRead) }
  }

  /// Adds what a transaction has read, and who changed it next.
  private func addDependencies(
    of number: Int, _ transaction: Transaction, to graph: inout DependencyGraph
  ) {
    for case .read(let list, let values) in transaction.operations {
      let foreign = values.filter { writers[$0]?.transaction != number }
      if let last = foreign.last, let writer = writers[last]?.transaction {
        graph.add(writer, number, .read)
      }
      // Its own appends follow what it has read; the next writer is another transaction.
      let next = (lists[list] ?? []).dropFirst(foreign.count).first {
        writers[$0]?.transaction != number
      }
      if let next, let writer = writers[next]?.transaction { graph.add(number, writer, .overtaken) }
    }
  }

  private func addWrites(to graph: inout DependencyGraph) {
    for values in lists.values {
      for (before, after) in zip(values, values.dropFirst()) {
        guard let first = writers[before], let second = writers[after] else { continue }
        graph.add(first.transaction, second.transaction, .write)
      }
    }
  }
}
