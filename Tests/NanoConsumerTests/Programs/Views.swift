// SPDX-License-Identifier: MIT

import NanoStore
import Observation

/// An observable view model next to NanoStore: the name of the module `Observation` must stay reachable.
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
