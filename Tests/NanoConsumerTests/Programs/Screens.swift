// SPDX-License-Identifier: MIT

import NanoStoreModels
import Observation

@Model final class Chore {
  var title: String
  var isDone = false

  init(_ title: String) { self.title = title }
}

extension Chore: Identifiable {}

/// Live results of objects in a view model, and what views read.
@MainActor @Observable final class ChoreScreen {
  let context: ObjectContext
  let open: LiveResults<Chore>
  var isAll = false

  init(_ store: Store) {
    context = ObjectContext(store)
    open = LiveResults(context.find(\Chore.isDone == false).sorted(by: \.title))
  }

  func toggle() {
    isAll.toggle()
    open.change(to: isAll ? context.find(Chore.self) : context.find(\Chore.isDone == false))
  }

  func finish(_ chore: Chore) async throws {
    try context.undoGroup(named: "Finish") { chore.isDone = true }
    try await context.save()
  }

  var text: String {
    let sections = open.sections(by: \.isDone).map { "\($0.id): \($0.elements.map(\.title))" }
    return "\(sections) \(context.canUndo) \(context.undoName ?? "")"
  }

  func redraw(_ show: @escaping @MainActor (String) -> Void) {
    let text = withObservationTracking {
      self.text
    } onChange: { [weak self] in
      Task { @MainActor in self?.redraw(show) }
    }
    show(text)
  }

  /// `Observations` is available on Apple platforms since 2025.
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  func follow(_ chore: Chore) async -> [String] {
    var titles: [String] = []
    for await title in Observations({ chore.title }) {
      titles.append(title)
      if chore.isDeleted { break }
    }
    return titles
  }
}
