// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// Reads that skip documents that do not decode, and conditional saves, in synchronous code.
func readsAndSaves() throws {
  let store = try Store(.file("library.db"))
  let (films, skipped) = try store["films"].find().decodedSkippingFailures(as: Film.self)
  print(films.map(\.title), skipped.map { "\($0.key ?? "") \($0.rowID) \($0.error)" })
  try store["films"].find().each(as: Film.self, onFailure: { print($0.rowID) }) { print($0.title) }

  let team = store[Person.self]
  let (people, others) = try team.find(\.lastName == "Hopper").fetchSkippingFailures()
  print(people.count, others.count)
  try team.find().each(onFailure: { print($0.rowID) }) { print($0.firstName) }

  guard var ada = try team.getStored("ada") else { return }
  ada.firstName = "Augusta"
  ada = try team.save(ada, ifRevision: ada.revision)
  try team.save(ada.value, ifRevision: ada.revision)
  guard var document = try store["films"].get("ran") else { return }
  let revision = document.revision
  document["year"] = 1986
  try store["films"].replace(document, ifRevision: revision)
}

/// The same calls in asynchronous code.
func readsAndSavesWithAwait() async throws {
  let store = try Store(.file("library.db"))
  let (films, skipped) = try await store["films"].find().decodedSkippingFailures(as: Film.self)
  print(films.map(\.title), skipped.map { "\($0.key ?? "") \($0.rowID) \($0.error)" })

  let team = store[Person.self]
  let (people, others) = try await team.find(\.lastName == "Hopper").fetchSkippingFailures()
  print(people.count, others.count)
  for try await person in team.find().stream(onFailure: { print($0.rowID) }) {
    print(person.firstName)
  }

  guard var ada = try await team.getStored("ada") else { return }
  ada.firstName = "Augusta"
  ada = try await team.save(ada, ifRevision: ada.revision)
  try await team.save(ada.value, ifRevision: ada.revision)
}

/// Pages, aggregates and search results of objects.
func objectQueries() throws {
  let context = ObjectContext(try Store(.file("music.db")))
  let songs = context.find(Song.self).sorted(by: \.title)
  var page = try songs.page(10)
  while let next = page.next { page = try songs.after(next).page(10) }
  print(page.objects.map(\.title))
  let (count, last) = try songs.aggregate(.count, .max(\.title))
  print(count, last ?? "", try songs.distinct(\.title), try songs.min(\.title) ?? "")
  for (title, count) in try songs.grouped(by: \.title, .count) { print(title, count) }
  for result in try context.search(Song.self, "gin").results() {
    print(result.object.title, result.rank, result.snippet() ?? "")
    print(try result.highlights(of: \.title))
  }
  let (values, skipped) = try songs.fetchSkippingFailures()
  print(values.map(\.title), skipped.map(\.rowID))
}

/// The same calls in asynchronous code.
func objectQueriesWithAwait() async throws {
  let context = ObjectContext(try Store(.file("music.db")))
  let songs = context.find(Song.self).sorted(by: \.title)
  var page = try await songs.page(10)
  while let next = page.next { page = try await songs.after(next).page(10) }
  print(page.objects.map(\.title))
  let (count, last) = try await songs.aggregate(.count, .max(\.title))
  print(count, last ?? "", try await songs.distinct(\.title))
  for (title, count) in try await songs.grouped(by: \.title, .count) { print(title, count) }
  for result in try await context.search(Song.self, "gin").results() {
    print(result.object.title, result.rank, result.snippet() ?? "")
  }
  let (values, skipped) = try await songs.fetchSkippingFailures()
  print(values.map(\.title), skipped.map(\.rowID))
}

/// The details of a conflict.
func conflict() throws {
  let context = ObjectContext(try Store(.file("music.db")))
  do {
    try context.save()
  } catch let error as ObjectConflictError {
    for conflict in error.conflicts where conflict.isDeletedInStore { print(conflict.id) }
  }
}
