// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTestSupport
import Testing

@Model final class Author {
  var name: String
  @Inverse var books: [Book]

  init(_ name: String) { self.name = name }
}

@Model final class Book {
  var title: String
  @Relationship(inverse: \Author.books) var authors: [Author] = []
  @Inverse var shelf: Shelf?

  init(_ title: String, _ authors: [Author] = []) {
    self.title = title
    self.authors = authors
  }
}

@Model final class Shelf {
  var room: String
  @Relationship(inverse: \Book.shelf, delete: .cascade) var books: [Book] = []

  init(_ room: String, _ books: [Book] = []) {
    self.room = room
    self.books = books
  }
}

@Model final class Borrower {
  @Indexed var name: String

  init(_ name: String) { self.name = name }
}

@Suite("Objects in an encrypted store", .sqlite)
struct SealedObjectTests {
  private static let both: [Encryption.Indexes] = [.rejected, .blind]
  private let folder: Scratch

  init() throws { folder = try Scratch() }

  private func open(
    _ indexes: Encryption.Indexes = .rejected, _ passphrase: String = "correct horse"
  ) throws -> Store {
    let cost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
    return try Store(
      .file(folder.file("a.db")),
      encryption: Encryption(.passphrase(passphrase), indexes: indexes, cost: cost))
  }

  /// Saves two books by the same author, and one shelf.
  private func fill(_ store: Store) throws {
    let context = ObjectContext(store)
    let author = Author("SecretAuthor")
    let books = [Book("SecretBook 1", [author]), Book("SecretBook 2", [author, author])]
    try context.insert(Shelf("SecretRoom", books))
    try context.setObject(author, named: "SecretName")
    try context.save()
  }

  @Test(
    "Objects are found with their relationships in both directions, and the file contains no plaintext",
    arguments: both)
  func reopened(indexes: Encryption.Indexes) throws {
    let store = try open(indexes)
    try fill(store)
    try store.close()
    for name in try folder.names {
      #expect(try folder.bytes(name).range(of: Data("Secret".utf8)) == nil)
    }

    let again = try open(indexes)
    let context = ObjectContext(again)
    let shelf = try #require(try context.all(Shelf.self).first)
    #expect(shelf.books.map(\.isFault) == [true, true])
    #expect(shelf.books.map(\.title) == ["SecretBook 1", "SecretBook 2"])
    let author = try #require(try context.object(named: "SecretName", as: Author.self))
    #expect(author.name == "SecretAuthor")
    #expect(author.books.map(\.title) == ["SecretBook 1", "SecretBook 2"])
    #expect(
      shelf.books[1].authors.allSatisfy { $0 === author } && shelf.books[1].authors.count == 2)
    #expect(shelf.books[0].shelf === shelf)
    #expect(try context.find(\Book.title == "SecretBook 2").first() === shelf.books[1])
    #expect(try again["Book"].indexes().count == (indexes == .blind ? 1 : 0))
  }

  @Test("A context cannot open the store with a different passphrase or none")
  func wrongKey() throws {
    try open().using { try fill($0) }
    #expect(throws: StoreError.self) { try open(.rejected, "incorrect horse") }
    let error = #expect(throws: StoreError.self) { try Store.file(folder.file("a.db")) }
    #expect(error?.code == .wrongKey)
    #expect(try ObjectContext(open()).all(Book.self).count == 2)
  }

  @Test(
    "Undo, deletions and cascades write sealed documents", arguments: both)
  func changes(indexes: Encryption.Indexes) throws {
    let store = try open(indexes)
    try fill(store)
    let context = ObjectContext(store)
    let author = try #require(try context.all(Author.self).first)
    let books = author.books

    books[0].title = "SecretBook changed"
    try context.save()
    try context.undo()
    #expect(books[0].title == "SecretBook 1")
    try context.save()
    try context.redo()
    try context.save()
    #expect(try ObjectContext(store).all(Book.self)[0].title == "SecretBook changed")

    try context.delete(author)
    try context.save()
    #expect(try ObjectContext(store).all(Book.self).allSatisfy { $0.authors.isEmpty })
    try context.undo()
    try context.save()
    #expect(try ObjectContext(store).all(Book.self).map(\.authors.count) == [1, 2])

    try context.delete(#require(try context.all(Shelf.self).first))
    try context.save()
    #expect(try ObjectContext(store).all(Book.self).isEmpty)
    #expect(try store["Author"].fetch().count == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("A stale write is a conflict with both decrypted versions", arguments: both)
  func conflicts(indexes: Encryption.Indexes) throws {
    let store = try open(indexes)
    try fill(store)
    let mine = ObjectContext(store)
    let book = try mine.all(Book.self)[0]
    book.title = "mine"
    let theirs = ObjectContext(store)
    try theirs.all(Book.self)[0].title = "theirs"
    try theirs.save()

    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }
    #expect(error.conflicts.map { $0.mine?["title"] } == ["mine"])
    #expect(error.conflicts.map { $0.stored?["title"] } == ["theirs"])
    mine.rollback()
    book.title += " and mine"
    try mine.save()
    #expect(try ObjectContext(store).all(Book.self)[0].title == "theirs and mine")
  }

  @Test("Blind indexes permitted later are created by a save, without a conflict with itself")
  func blindLater() throws {
    try open().using { try fill($0) }
    let store = try open(.blind)
    let context = ObjectContext(store)
    let books = try context.all(Book.self)
    books[0].title = "changed"
    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try context.save { _ in throw Refusal() } }
    #expect(try store["Book"].indexes().isEmpty)

    try context.save()
    books[1].title = "changed too"
    try context.save()

    #expect(try store["Book"].indexes().count == 1)
    #expect(try ObjectContext(store).all(Book.self).map(\.title) == ["changed", "changed too"])
    let author = try #require(try ObjectContext(store).all(Author.self).first)
    #expect(author.books.count == 2)
  }

  @Test("Changes saved before a save creates blind indexes can be undone without a conflict")
  func undoAcrossIndexes() throws {
    let store = try open(.blind)
    try fill(store)
    let context = ObjectContext(store)
    let books = try context.all(Book.self)
    let new = try context.insert(Book("new"))
    try context.save()
    books[0].title = "changed"
    try context.save()
    _ = try store["Book"].dropIndexes()
    books[1].title = "changed too"
    try context.save()
    #expect(try store["Book"].indexes().count == 1)

    while try context.undo() {}
    try context.save()

    #expect(new.isDeleted)
    let titles = try ObjectContext(store).all(Book.self).map(\.title)
    #expect(titles.count == 2 && !titles.contains { $0.hasPrefix("changed") })
  }

  @Test(
    "An index that cannot be encrypted is rejected, and the context keeps its changes"
  )
  func refusedIndexes() throws {
    let store = try open()
    for object in [Borrower("Ada") as any GraphObject, Song("Gin")] {
      let context = ObjectContext(store)
      try context.insert(Book("of the same save"))
      try context.insert(object)
      let error = #expect(throws: StoreError.self) { try context.save() }
      #expect(error?.code == .unsupported)
      #expect(context.insertedObjects.count == 2)
    }
    #expect(try store.collections().isEmpty)
    try store.close()

    let context = ObjectContext(try open(.blind))
    try context.insert(Borrower("Ada"))
    try context.save()
    #expect(try context.find(\Borrower.name == "Ada").count() == 1)
  }

  @Test("A full-text search without an index is an error")
  func search() throws {
    let store = try open()
    try fill(store)
    let context = ObjectContext(store)
    let query = FullTextQuery.field("title", FullTextQuery(bnrExpression: "Secret*"))
    let error = #expect(throws: StoreError.self) {
      try context.search(Book.self, query).fetch()
    }
    #expect(error?.code == .invalidArgument)
    #expect(try context.find(Book.self).fetch().count { $0.title.hasPrefix("Secret") } == 2)
  }

  @Test("A plain store can be encrypted after the indexes of its relationships are dropped")
  func plainBefore() throws {
    try Store.file(folder.file("a.db")).using { try fill($0) }
    let error = #expect(throws: StoreError.self) { try open() }
    #expect(error?.code == .unsupported)
    try Store.file(folder.file("a.db")).using { store in
      for collection in try store.collections() { try store[collection.name].dropIndexes() }
    }

    let store = try open()
    let context = ObjectContext(store)
    let author = try #require(try context.all(Author.self).first)
    try context.insert(Book("SecretBook 3", [author]))
    try context.save()
    #expect(author.books.map(\.title).sorted() == (1...3).map { "SecretBook \($0)" })

    try store.encryptAll()
    let sealed = try #require(try ObjectContext(store).all(Author.self).first)
    #expect(sealed.books.count == 3)
  }

  @Test("A key rotation counts as a change by others and conflicts with unsaved changes")
  func rotation() throws {
    let store = try open()
    try fill(store)
    let context = ObjectContext(store)
    let book = try context.all(Book.self)[0]
    book.title = "changed"
    try store.rotateKeys()

    #expect(throws: ObjectConflictError.self) { try context.save() }
    context.rollback()
    #expect(book.title == "SecretBook 1")
    book.title = "changed"
    try context.save()
    #expect(try ObjectContext(store).all(Book.self)[0].title == "changed")
  }

  @Test("A document that was tampered with does not keep others of its commit from being refreshed")
  @MainActor func tampered() async throws {
    let store = try open()
    try fill(store)
    let context = ObjectContext(store)
    let books = try await context.all(Book.self)
    let ids = try books.map { try #require($0.objectID).rowID }
    #expect(books.map(\.title) == ["SecretBook 1", "SecretBook 2"])
    var failures: [AnyObjectID] = []
    context.loadFailureHandler = { id, _ in failures.append(id) }

    let table = Book.collectionName
    // Both without a pause, so that the context merges them as one commit.
    func write() throws {
      try store[table].update(rowID: ids[0], set: ["title": "New"])
      try folder.shell(
        "a.db",
        "UPDATE \(table) SET body = (SELECT body FROM \(table) WHERE id = \(ids[0])) WHERE id = \(ids[1])"
      )
    }
    try write()
    for _ in 0..<40_000 where books[0].title != "New" || !books[1].isFault {
      try await Task.sleep(for: .milliseconds(5))
    }

    #expect(books[0].title == "New")
    #expect(books[1].title.isEmpty)
    #expect(failures.map(\.rowID) == [ids[1]])
  }
}
