// SPDX-License-Identifier: MIT

import BenchmarkKit

/// Returns every scenario in the order of execution and of the tables.
func allScenarios(_ workload: Workload) -> [any Scenario] {
  let general: [any Scenario] = [
    InsertScenario(workload: workload),
    InsertIndexedScenario(workload: workload, kind: .fields),
    InsertIndexedScenario(workload: workload, kind: .elements),
    CommitScenario(workload: workload, durability: .normal),
    CommitScenario(workload: workload, durability: .full),
    ObserverScenario(workload: workload),
    FeedScenario(workload: workload, kind: .commit),
    FeedScenario(workload: workload, kind: .update),
    FeedScenario(workload: workload, kind: .insert),
    FeedReadScenario(workload: workload),
    ExpiryScenario(workload: workload, kind: .get),
    ExpiryScenario(workload: workload, kind: .count),
    ExpiryScenario(workload: workload, kind: .insert),
    ExpiryScenario(workload: workload, kind: .commit),
    AttachmentScenario(workload: workload, kind: .write),
    AttachmentScenario(workload: workload, kind: .read),
    GetScenario(workload: workload),
    ScanScenario(workload: workload),
    KeptScenario(workload: workload),
    FindScenario(workload: workload),
    TenthScenario(workload: workload),
    UpdateScenario(workload: workload),
    UpdateIndexedScenario(workload: workload),
    FilterScenario(workload: workload),
    SortScenario(workload: workload),
    AverageScenario(workload: workload),
    EverythingScenario(workload: workload),
    AnywhereScenario(workload: workload),
    IncludingScenario(),
    RelatedScenario(),
  ]
  return general + cardScenarios(workload, .key) + cardScenarios(workload, .rowID)
}
