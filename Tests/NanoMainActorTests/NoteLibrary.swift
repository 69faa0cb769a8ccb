// SPDX-License-Identifier: MIT

import NanoStoreModels
import Observation

// Written as an app would write it, in a module whose default isolation is the main actor.

@Model final class Note {
  var title: String
  var stars = 0
  @Inverse var folder: Folder?

  init(_ title: String, stars: Int = 0) {
    self.title = title
    self.stars = stars
  }
}

extension Note: Identifiable {}

@Model final class Folder {
  var name: String
  @Relationship(inverse: \Note.folder) var notes: [Note] = []

  init(_ name: String) { self.name = name }
}

/// The state of a screen with a list of notes, a search field, and buttons.
@Observable final class NoteScreen {
  let context: ObjectContext
  let notes: LiveResults<Note>
  let count: LiveValue<Int>
  private(set) var failure: String?

  /// The text of the search field.
  var search = "" {
    didSet { if search != oldValue { notes.change(to: query) } }
  }

  init(_ store: Store) {
    context = ObjectContext(store)
    notes = LiveResults(context.find(Note.self).sorted(by: \.title), loading: .immediately)
    count = LiveValue(store[Note.self].find().countUpdates(), loading: .immediately)
  }

  private var query: ObjectQuery<Note> {
    let all = context.find(Note.self).sorted(by: \.title)
    let text = search
    return text.isEmpty ? all : all.where { $0.title.contains(text) }
  }

  var titles: [String] { notes.elements.map(\.title) }
  var undoTitle: String? { context.canUndo ? "Undo \(context.undoName ?? "")" : nil }
  var canSave: Bool { context.hasUnsavedChanges }

  func add(_ title: String) throws {
    try context.undoGroup(named: "Add") { _ = try context.insert(Note(title)) }
  }

  func rename(_ note: Note, _ title: String) throws {
    try context.undoGroup(named: "Rename") { note.title = title }
  }

  func save() async {
    do {
      try await context.save()
      failure = nil
    } catch let error as ObjectConflictError {
      failure = "\(error.conflicts.count) changed elsewhere"
    } catch {
      failure = "\(error)"
    }
  }
}
