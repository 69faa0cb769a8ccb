// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Observation
import Testing

@Suite("An app on the main actor")
struct NoteScreenTests {
  private let scratch: Scratch
  private let store: Store
  private let screen: NoteScreen

  init() async throws {
    scratch = try Scratch()
    store = try Store(.file(scratch.file("notes.db")))
    screen = NoteScreen(store)
    for title in ["Bread", "Milk", "Tea"] { try screen.context.insert(Note(title)) }
    try await screen.context.save()
    try screen.context.removeAllUndoActions()
    try await wait { screen.titles.count == 3 && screen.count.value == 3 }
  }

  /// Waits until a condition holds. Limited by attempts: on a busy machine, minutes may pass between two of them.
  private func wait(
    until condition: () throws -> Bool, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    for _ in 0..<40_000 {
      if try condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("The condition did not become true", sourceLocation: location)
  }

  @Test("A view model shows new notes before they are saved, and counts them afterward")
  func adding() async throws {
    try screen.add("Coffee")
    try await wait { screen.titles == ["Bread", "Coffee", "Milk", "Tea"] }
    #expect(screen.count.value == 3)
    #expect(screen.canSave)

    await screen.save()

    try await wait { screen.count.value == 4 }
    #expect(!screen.canSave)
    #expect(screen.failure == nil)
  }

  @Test("A view is drawn again after a change of what it shows, and not after others")
  func redrawing() async throws {
    let list = Redraws { screen.titles.joined(separator: " ") }
    let stars = Redraws { screen.notes.elements.map(\.stars).description }
    let note = screen.notes.elements[0]

    note.title = "Bagels"
    note.title = "Bagels"
    try await wait { list.texts.last == "Bagels Milk Tea" }

    #expect(stars.texts == ["[0, 0, 0]"])
    #expect(list.texts == ["Bread Milk Tea", "Bagels Milk Tea"])
  }

  @Test("Undo and redo have names that a menu can show") func undo() async throws {
    let menu = Redraws { screen.undoTitle ?? "-" }
    let note = screen.notes.elements[0]

    try screen.rename(note, "Bagels")
    try await wait { menu.texts.last == "Undo Rename" }
    try screen.context.undo()
    try await wait { menu.texts.last == "-" }

    #expect(note.title == "Bread")
    #expect(screen.context.redoName == "Rename")
    #expect(menu.texts == ["-", "Undo Rename", "-"])
  }

  @Test("The existing objects show what another store on the file writes")
  func otherStore() async throws {
    let milk = screen.notes.elements[1]
    let other = ObjectContext(try Store(.file(scratch.file("notes.db"))))

    try await other.find(\Note.title == "Milk").first()?.title = "Oat milk"
    try other.insert(Note("Apples"))
    try await other.save()
    try await wait { screen.titles == ["Apples", "Bread", "Oat milk", "Tea"] }

    #expect(screen.notes.elements[2] === milk)
    #expect(milk.title == "Oat milk")
    try await wait { screen.count.value == 4 }
    try other.store.close()
  }

  @Test("A conflict with another writer keeps the text that the user has typed")
  func conflict() async throws {
    let note = screen.notes.elements[0]
    let other = ObjectContext(store)
    note.title = "Mine"
    try await other.find(\Note.title == "Bread").first()?.title = "Theirs"
    try await other.save()

    await screen.save()

    #expect(screen.failure == "1 changed elsewhere")
    #expect(note.title == "Mine")
    screen.context.conflictPolicy = .overwrite
    await screen.save()
    #expect(screen.failure == nil)
    #expect(try await store[Note.self].find(\.title == "Mine").count() == 1)
  }

  @Test("A search field changes the query, and the elements remain until the new ones exist")
  func search() async throws {
    let list = Redraws { screen.titles.joined(separator: " ") }

    screen.search = "ea"
    #expect(screen.titles == ["Bread", "Milk", "Tea"])
    try await wait { screen.titles == ["Bread", "Tea"] }
    screen.search = ""
    try await wait { screen.titles == ["Bread", "Milk", "Tea"] }

    try await wait { list.texts.count == 3 }
    #expect(list.texts == ["Bread Milk Tea", "Bread Tea", "Bread Milk Tea"])
  }

  @Test("Observations yields both ends of a relationship") func relationship() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let note = screen.notes.elements[0]
    let names = Task {
      var names: [String?] = []
      for await name in Observations({ note.folder?.name }) {
        names.append(name)
        if name == "Done" { break }
        if names.count == 1 {
          try screen.context.insert(Folder("Kitchen")).notes = [note]
        } else {
          note.folder?.name = "Done"
        }
      }
      return names
    }

    #expect(try await names.value == [nil, "Kitchen", "Done"])
  }

  @Test("A paused screen stays as it is, and shows everything when it appears again")
  func pausing() async throws {
    screen.notes.isPaused = true
    try await store[Note.self].find(\.title == "Milk").delete()
    try await wait { screen.count.value == 2 }
    #expect(screen.notes.count == 3)

    screen.notes.isPaused = false

    try await wait { screen.titles == ["Bread", "Tea"] }
  }

  @Test("A detail view is notified that its note was deleted, and restored")
  func deletion() async throws {
    let note = screen.notes.elements[2]
    let detail = Redraws { note.isDeleted ? "deleted" : note.title }

    try screen.context.delete(note)
    try await wait { detail.texts.last == "deleted" }
    try screen.context.undo()
    try await wait { detail.texts.last == "Tea" }

    #expect(detail.texts == ["Tea", "deleted", "Tea"])
  }
}

/// Reads a text again after each change of what it was read from, as a view does.
private final class Redraws {
  private let read: () -> String
  private(set) var texts: [String] = []

  init(_ read: @escaping () -> String) {
    self.read = read
    draw()
  }

  private func draw() {
    texts.append(
      withObservationTracking(read) { [weak self] in
        Task { @MainActor in self?.draw() }
      })
  }
}
