// SPDX-License-Identifier: MIT

import NanoStoreModels
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

@Model struct Director {
  @Key var id: String
  var age: Int
}

/// Live results in a view model, and what a view reads.
@MainActor final class FilmScreen {
  let films: LiveResults<Document>
  let titles: LiveResults<String>
  let directors: LiveResults<Director>
  let count: LiveValue<Int>
  let latest: LiveValue<Document>
  let oldest: LiveValue<Director>

  init(_ store: Store) {
    let all = store["films"].find()
    films = LiveResults(all, loading: .immediately)
    titles = LiveResults(all.updates { $0["title"]?.string ?? "" }, interval: .seconds(1))
    directors = LiveResults(store[Director.self].find(\.age > 30))
    count = LiveValue(all.countUpdates())
    latest = LiveValue(all.sorted(by: "-year").firstUpdates())
    oldest = LiveValue(store[Director.self].find().firstUpdates())
  }

  func show(_ store: Store, _ limit: Int) throws {
    films.change(to: store["films"].find().limit(limit))
    titles.change(to: store["films"].find().updates { $0.key ?? "" })
    directors.change(to: store[Director.self].find().sorted(by: \.age))
    latest.change(to: store["films"].find().firstUpdates())
    try count.load()
  }

  func disappear() { films.isPaused = true }

  var text: String {
    let ages = directors.sections(by: \.age).map { "\($0.id): \($0.elements.count)" }
    return "\(titles.elements) \(count.value ?? 0) \(ages) \(latest.value?.key ?? "")"
  }
}
