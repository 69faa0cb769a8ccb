// SPDX-License-Identifier: MIT

import BenchmarkKit

/// Inserts documents, each in a separate transaction, while a hundred observers wait for other changes. The result is
/// the number inserted.
///
/// Raw SQLite has no observers, so the baseline is NanoStore's writer without any, and the ratio is what observers cost
/// the writer. The processor time is therefore that of the writing thread. Work for observers on other threads
/// affects the wall-clock time if the machine has no idle processor.
struct ObserverScenario: Scenario {
  let workload: Workload

  let name = "observers"
  let work = "one document per commit with 100 idle observers, relative to no observers"
  let unit = "commit"
  var operations: Int { workload.commits }
  /// Half of the observers watch the collection that is written to.
  static let observers = 100
}
