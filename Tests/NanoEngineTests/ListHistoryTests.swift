// SPDX-License-Identifier: MIT

import NanoTesting
import Testing

@Suite("The checker of list histories")
struct ListHistoryTests {
  private typealias Transaction = ListHistory.Transaction

  private func anomalies(
    _ transactions: [ListHistory.Transaction], _ lists: [Int: [Int]]
  ) -> Set<ListHistory.Anomaly> { ListHistory(transactions, final: lists).anomalies }

  @Test("A serial history has no anomaly")
  func serial() {
    let history = [
      Transaction([.append(list: 1, 1), .read(list: 1, [1]), .append(list: 2, 2)]),
      Transaction([.read(list: 1, [1]), .append(list: 1, 3), .append(list: 1, 4)]),
      Transaction([.read(list: 1, [1, 3, 4]), .read(list: 2, [2]), .read(list: 3, [])]),
      Transaction([.append(list: 1, 5)], .aborted),
      Transaction([.append(list: 2, 6)], .unknown),
      Transaction([.read(list: 2, [2]), .append(list: 2, 7)], .unknown),
    ]
    #expect(anomalies(history, [1: [1, 3, 4], 2: [2, 7]]).isEmpty)
  }

  @Test(
    "Each anomaly is found",
    arguments: [
      (
        .writeCycle,
        [
          Transaction([.append(list: 1, 1), .append(list: 2, 2)]),
          Transaction([.append(list: 1, 3), .append(list: 2, 4)]),
        ], [1: [1, 3], 2: [4, 2]]
      ),
      (
        .unknownNumber,
        [Transaction([.append(list: 1, 1)]), Transaction([.append(list: 1, 2)])], [1: [1, 9, 2]]
      ),
      (
        .unknownNumber,
        [Transaction([.append(list: 1, 1)]), Transaction([.read(list: 1, [1, 9])])], [1: [1]]
      ),
      (
        // A number in two lists.
        .unknownNumber,
        [
          Transaction([.append(list: 1, 5)]),
          Transaction([.read(list: 2, [5]), .append(list: 2, 6)]),
        ], [1: [5], 2: [5, 6]]
      ),
      (
        // An impossible read in a transaction that the final lists show to be committed.
        .unknownNumber,
        [Transaction([.read(list: 1, [99]), .append(list: 2, 2)], .unknown)], [2: [2]]
      ),
      (
        .abortedRead,
        [Transaction([.append(list: 1, 1)], .aborted), Transaction([.read(list: 1, [1])])], [:]
      ),
      (
        .intermediateRead,
        [
          Transaction([.append(list: 1, 1), .append(list: 1, 2)]),
          Transaction([.read(list: 1, [1])]),
        ], [1: [1, 2]]
      ),
      (
        .circularInformation,
        [
          Transaction([.append(list: 1, 1), .read(list: 2, [2])]),
          Transaction([.append(list: 2, 2), .read(list: 1, [1])]),
        ], [1: [1], 2: [2]]
      ),
      (
        // A lost update that a lock on the list made visible.
        .singleAntidependency,
        [
          Transaction([.read(list: 1, []), .append(list: 1, 1)]),
          Transaction([.read(list: 1, []), .append(list: 1, 2)]),
        ], [1: [1, 2]]
      ),
      (
        // Reads of two states.
        .singleAntidependency,
        [
          Transaction([.append(list: 1, 1), .append(list: 2, 2)]),
          Transaction([.read(list: 1, []), .read(list: 2, [2])]),
        ], [1: [1], 2: [2]]
      ),
      (
        // Write skew.
        .antidependencyCycle,
        [
          Transaction([.read(list: 1, []), .append(list: 2, 1)]),
          Transaction([.read(list: 2, []), .append(list: 1, 2)]),
        ], [1: [2], 2: [1]]
      ),
      (
        .incompatibleOrder,
        [
          Transaction([.append(list: 1, 1)]), Transaction([.append(list: 1, 2)]),
          Transaction([.read(list: 1, [2])]),
        ], [1: [1, 2]]
      ),
      (.lostAppend, [Transaction([.append(list: 1, 1)])], [1: []]),
      (
        // A transaction whose response was lost, applied in part.
        .lostAppend,
        [
          Transaction(
            [
              .read(list: 1, []), .append(list: 1, 10), .read(list: 2, []), .append(list: 2, 20),
            ], .unknown),
          Transaction([.read(list: 1, [10]), .read(list: 2, [])]),
        ], [1: [10], 2: []]
      ),
      (
        // The same, of a transaction that only another such transaction shows to be committed.
        .lostAppend,
        [
          Transaction([.append(list: 1, 10), .append(list: 3, 30)], .unknown),
          Transaction([.read(list: 1, [10]), .append(list: 2, 20)], .unknown),
        ], [1: [10], 2: [20], 3: []]
      ),
      (.duplicate, [Transaction([.append(list: 1, 1)])], [1: [1, 1]]),
      (
        .internalInconsistency,
        [Transaction([.append(list: 1, 1), .read(list: 1, [])])], [1: [1]]
      ),
      (
        .internalInconsistency,
        [
          Transaction([.read(list: 1, []), .read(list: 1, [1])]),
          Transaction([.append(list: 1, 1)]),
        ], [1: [1]]
      ),
    ] as [(ListHistory.Anomaly, [ListHistory.Transaction], [Int: [Int]])])
  func found(
    anomaly: ListHistory.Anomaly, history: [ListHistory.Transaction], lists: [Int: [Int]]
  ) {
    #expect(anomalies(history, lists).contains(anomaly))
  }

  @Test("A cycle of any length is found, and a chain of the same length is none")
  func longCycles() {
    for count in [2, 3, 500] {
      let chain = (0..<count).map {
        Transaction([.read(list: $0 + 1, []), .append(list: $0, $0)])
      }
      var lists = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, [$0]) })
      #expect(anomalies(chain, lists).isEmpty)
      var cycle = chain
      cycle[count - 1] = Transaction([.read(list: 0, []), .append(list: count - 1, count - 1)])
      #expect(anomalies(cycle, lists) == [.antidependencyCycle])
      lists[0] = []
      #expect(anomalies(chain, lists) == [.lostAppend])
    }
  }
}
