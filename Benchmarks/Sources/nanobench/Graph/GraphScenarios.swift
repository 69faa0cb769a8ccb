// SPDX-License-Identifier: MIT

import BenchmarkKit

/// BNRPersistence's own speed tests, with its ratios to raw SQLite where they are known.
func graphScenarios(_ set: SongSet) -> [any Scenario] {
  [
    SongInsertScenario(set: set),
    SongFetchScenario(set: set, includesRelease: false),
    SongFetchScenario(set: set, includesRelease: true),
    SongUpdateScenario(set: set),
    ListInsertScenario(set: set),
    FirstTitleScenario(set: set),
    PropertyReadScenario(set: set),
    TextIndexScenario(set: set),
    TextSearchScenario(set: set, kind: .words),
    TextSearchScenario(set: set, kind: .substrings),
  ]
}
