// SPDX-License-Identifier: MIT

import NanoStore
import Observation

/// A model of a view beside NanoStore: the name of the module `Observation` stays reachable.
@MainActor @Observable final class FilmList {
  var titles: [String] = []
  private var token: ObservationToken?

  func show(_ store: Store) {
    token = store["films"].find().updates().observe { [weak self] result in
      guard case .success(let films) = result else { return }
      self?.titles = films.compactMap { $0["title"]?.string }
    }
  }
}
