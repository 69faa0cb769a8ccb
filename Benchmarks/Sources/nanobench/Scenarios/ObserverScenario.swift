// SPDX-License-Identifier: MIT

import BenchmarkKit

/// Some documents, each in a transaction of its own, while a hundred observers wait for others. The
/// answer is how many arrived.
///
/// The baseline is not raw SQLite, which has no observers, but our own writer without any: the ratio
/// is what observers cost the writer. So processor time is that of the thread that writes; what is
/// done for observers elsewhere shows on the wall, if the machine has no processor to spare.
struct ObserverScenario: Scenario {
  let workload: Workload

  let name = "observers"
  let work = "one document per commit with 100 idle observers, relative to no observers"
  let unit = "commit"
  var operations: Int { workload.commits }
  /// Half of them on the collection that is written to.
  static let observers = 100
}
