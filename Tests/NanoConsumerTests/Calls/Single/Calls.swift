// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoStorePostgres

@Model final class Shelf {
  var title: String
  var place = 1
  @Relationship var books: [Book] = []
  init(_ title: String) { self.title = title }
}

@Model final class Book {
  var title: String
  @Relationship var shelf: Shelf?
  init(_ title: String) { self.title = title }
}

func opening(_ setup: StoreSetup, _ encryption: Encryption) throws {
  let store = try Store(.memory)
  try Store(.file("a.db"), configuration: Store.Configuration()).close()
  try Store(setup).close()
  try Store(.file("a.db"), encryption: encryption).close()
  try Store(setup, encryption: encryption).close()
  try store.close()
  try store.reopen()
  store.discardUnsavedChanges()
  store.flushCache()
  store["books"].flushCache()
}

func blocking(_ store: Store, _ books: DocumentCollection, _ shelves: ModelCollection<Shelf>) throws
{
  let drafts = NSMutableArray()
  let count = try store.blocking { try books.count() }
  let keys = try store.blocking {
    try store.write {
      try books.insert(["title": "Emma"])
      drafts.add("Emma")
    }
    return try books.find().keys()
  }
  try store.blocking { try books.insert(["title": "Emma"]) }
  let first = try store.blocking { try shelves.find().first() }
  print(count, keys, first?.title ?? "", store.blocking { drafts.count })
}

func lowLevel(_ store: Store, _ books: DocumentCollection) throws {
  print(try store.blocking { try store.write { try books.nextRowID() } })
  let call = books.enqueue { try $0.count() }
  print(try call.wait())
  call.cancel()
  books.enqueue(completingOn: .automatic) {
    try $0.count()
  } completion: {
    print($0)
  }
}

func bags(_ bag: Bag, _ document: Document, _ documents: [Document]) throws {
  try bag.add(document)
  try bag.add(documents, in: "books")
  try bag.add(bag)
  bag.undo()
  bag.deflate()
}

func values(_ document: Document, _ stored: Stored<Shelf>) throws {
  let object: DocumentObject = try document.object()
  print(
    object, stored.title, try document.decoded(as: [String: Int].self),
    try DocumentObject(json: "{}"))
}

func changes(_ books: DocumentCollection, _ shelves: ModelCollection<Shelf>) throws {
  let token = books.find().updates().observe { print($0) }
  let other = books.find().countUpdates().observe(on: DispatchQueue.global()) { print($0) }
  token.cancel()
  other.cancel()
  print(shelves.find().countUpdates(), try shelves.find().documentQuery())
}

func objects(_ context: ObjectContext, _ shelf: Shelf, _ book: Book) throws {
  context.register(Shelf.self, Book.self)
  try context.insert(shelf)
  try context.delete(book)
  try context.save { try $0["log"].insert(["saved": true]) }
  try context.find(Shelf.self).each { $0.title != "Fiction" }
  try context.undoGroup(named: "Move") {
    book.shelf = shelf
    shelf.place = 2
  }
  try context.closeUndoGroup()
  try context.undo()
  try context.redo()
  try context.removeAllUndoActions()
  try context.upgrade(Shelf.self)
  try context.upgradeAll()
  try context.setObject(shelf, named: "first")
  let first: Shelf? = try context.object(named: "first")
  print(first?.title ?? "", try context.names(), try context.value(named: "first") as Any)
  context.setValue("dark", named: "theme")
  print(shelf.related(\.books).last?.title ?? "", shelf.related(\.books).count)
  try shelf.load()
  context.rollback()
  context.refresh(shelf)
  context.refreshAll()
  context.close()
}
