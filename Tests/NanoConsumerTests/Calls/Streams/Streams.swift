// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

nonisolated struct Note: Codable, Sendable { var text: String }

nonisolated struct TagCount: Codable, Sendable { var tag: String, count: Int }

@Model struct Page {
  @Key var id: String
  var text: String
}

@Model final class Sheet {
  var text: String
  init(_ text: String) { self.text = text }
}

func streams(_ store: Store, _ notes: DocumentCollection, _ bag: Bag) async throws {
  for try await note in notes.find().stream() { print(note) }
  for try await note in bag.stream() { print(note) }
  for try await page in store[Page.self].find().stream() { print(page.text) }
  let pages = store[Page.self].find().stream(onFailure: { print($0.error) })
  for try await page in pages { print(page.text) }
}

func updates(_ store: Store, _ notes: DocumentCollection) async throws {
  for try await list in notes.find().updates() { print(list.count) }
  for try await list in notes.find().updates(as: Note.self) { print(list.count) }
  for try await list in notes.find().updates({ $0.key }) { print(list.count) }
  for try await update in notes.find().updates().differences() { print(update) }
  for try await first in notes.find().firstUpdates() { print(first as Any) }
  for try await count in notes.find().countUpdates() { print(count) }
  for try await values in notes.find().aggregateUpdates([.count]) { print(values) }
  for try await rows in notes.find().groupedUpdates(by: "text", aggregates: [.count]) {
    print(rows)
  }
  for try await commit in store.changes { print(commit.changes) }
  for try await change in notes.changes() { print(change) }
  for try await event in notes.changeFeed(since: nil) { print(event) }
  for try await pages in store[Page.self].find().updates() { print(pages.count) }
  for try await pages in notes.find().updates(as: Page.self) { print(pages.count) }
  for try await page in store[Page.self].find().firstUpdates() { print(page as Any) }
  let pages = store[Page.self].find()
  for try await count in pages.aggregateUpdates(.count) { print(count) }
  for try await groups in pages.groupedUpdates(by: \.text, .count) { print(groups) }
  for try await count in store[Sheet.self].find().countUpdates() { print(count) }
}

func tasks(_ notes: DocumentCollection, _ context: ObjectContext) async throws {
  let call = notes.enqueue { try $0.count() }
  print(try await call.value)
  for await event in context.events() { print(event) }
}

func actors(_ store: Store) async throws {
  let library = ObjectActor(store)
  let id = try await library.perform { context in
    let sheet = try context.insert(Sheet("A"))
    try context.save()
    return sheet.objectID!
  }
  try await library.perform { try $0.undo() }
  print(id)
}

/// Sends values that are not `Sendable`.
func classes(_ sheets: ModelCollection<Sheet>) async throws {
  let all = try await sheets.fetch()
  print(all.map(\.text), try await sheets.find(\.text == "A").first()?.text ?? "")
  print(try await sheets.find().page(10).models.count, try await sheets.get("a")?.text ?? "")
  try await sheets.insert(Sheet("A"))
  try await sheets.insert([Sheet("B"), Sheet("C")])
  let stored = try await sheets.insert(Sheet("D"))
  stored.value.text = "E"
  try await sheets.save(stored)
  try await sheets.find().each { print($0.text) }
}

func pipelines(_ notes: DocumentCollection) async throws {
  let tags = notes.find().unwind("tags").grouped(by: ["tag": "tags"], ["count": .count])
  for try await rows in tags.updates() { print(rows.count) }
  for try await counts in tags.updates(as: TagCount.self) { print(counts.map(\.tag)) }
}
