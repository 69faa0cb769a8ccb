// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

/// One class in three versions of a program.
enum FirstVersion {
  @Model(collection: "Contact") final class Contact {
    var name: String
    init(_ name: String) { self.name = name }
  }
}
enum SecondVersion {
  @Model(collection: "Contact", version: 2) final class Contact {
    var first: String
    var phone = "none"
    @Relationship var friends: [Contact] = []
    static let upgrades = [
      ModelUpgrade(from: 1) { fields in
        fields["first"] = fields["name"]
        fields["name"] = nil
      }
    ]
    init(_ first: String) { self.first = first }
  }
}
enum ThirdVersion {
  @Model(collection: "Contact", version: 3) final class Contact {
    var first: String
    @Field(renamedFrom: "phone") var number = "none"
    @Relationship var friends: [Contact] = []
    static let upgrades =
      SecondVersion.Contact.upgrades + [ModelUpgrade(from: 2) { $0["seen"] = true }]
    init(_ first: String) { self.first = first }
  }
}

/// Classes whose relationships had other names: `record`, `records` and `first`.
@Model final class Work {
  var title: String
  @Inverse(delete: .deny) var prizes: [Prize]
  @Inverse var cabinet: Cabinet?

  init(_ title: String) { self.title = title }
}
@Model final class Prize {
  var name: String
  @Field(renamedFrom: "record") @Relationship(inverse: \Work.prizes) var work: Work?

  init(_ name: String) { self.name = name }
}
@Model final class Cabinet {
  var name: String
  @Field(renamedFrom: "records") @Relationship(inverse: \Work.cabinet) var works: [Work] = []
  @Field(renamedFrom: "first") @Relationship var best: (any GraphObject)?

  init(_ name: String) { self.name = name }
}

@Model final class Grape {
  var name: String
  @Inverse(delete: .cascade) var posters: [Wine]
  @Inverse(delete: .deny) var wines: [Wine]

  init(_ name: String) { self.name = name }
}
@Model final class Wine {
  var name: String
  @Relationship(inverse: \Grape.posters) var poster: Grape?
  @Field(renamedFrom: "fruit") @Relationship(inverse: \Grape.wines) var grape: Grape?

  init(_ name: String) { self.name = name }
}

@Suite("Schema evolution of object classes")
struct VersionTests {
  private let store: Store

  init() throws {
    store = try anyStore()
    let context = ObjectContext(store)
    for number in 1...25 { try context.insert(FirstVersion.Contact("c\(number)")) }
    try context.save()
  }

  @Test("Old documents are read as new objects, and upgraded when they are saved")
  func lazyUpgrade() throws {
    let context = ObjectContext(store)
    let contact = try #require(try context.find(SecondVersion.Contact.self).first())
    #expect(contact.first == "c1" && contact.phone == "none" && contact.friends.isEmpty)
    contact.phone = "7"
    contact.friends = [contact]
    try context.save()
    #expect(try store["Contact"].count() == 25)
    #expect(try ObjectContext(store).find(ThirdVersion.Contact.self).first()?.number == "7")
    #expect(try ObjectContext(store).find(ThirdVersion.Contact.self).first()?.friends.count == 1)
    #expect(
      try store.sql(#"SELECT count(*) AS n FROM "Contact" WHERE version = 2"#).first?["n"] == 1)
  }

  @Test("upgrade(_:) upgrades a class in batches, and resumes after an interruption")
  func batchUpgrade() throws {
    struct Stop: Error {}
    let context = ObjectContext(store)
    context.register(ThirdVersion.Contact.self)
    let held = try #require(try context.find(ThirdVersion.Contact.self).first())
    #expect(throws: Stop.self) {
      try context.upgrade(ThirdVersion.Contact.self, batch: 10) {
        if $0.done >= 10 { throw Stop() }
      }
    }
    var progress: [Int] = []
    #expect(try context.upgradeAll(batch: 10) { progress.append($0.done) } == 15)
    #expect(progress == [10, 15])
    #expect(try context.upgradeAll() == 0)
    #expect(held.first == "c1")
    held.number = "9"
    try context.save()
    #expect(try ObjectContext(store).find(\ThirdVersion.Contact.number == "9").count() == 1)
  }

  @Test("Classes with unsaved changes are not upgraded")
  func unsaved() throws {
    let context = ObjectContext(store)
    try context.find(SecondVersion.Contact.self).first()?.phone = "1"
    let error = #expect(throws: StoreError.self) { try context.upgrade(SecondVersion.Contact.self) }
    #expect(error?.code == .invalidArgument)
  }

  @Test("Renamed relationships have inverses and delete rules, and deletions remove references")
  func renamedRelationships() throws {
    let first = ObjectContext(store)
    for title in ["a", "b"] { try first.insert(Work(title)) }
    try first.save()
    try store["Prize"].insert(["name": "gold", "record": 1])
    try store["Cabinet"].insert(
      ["name": "top", "records": [1, 2], "first": ["collection": "Work", "id": 2]])
    let context = ObjectContext(store)
    context.register(Prize.self, Cabinet.self)
    let works = try context.all(Work.self)

    #expect(works[0].prizes.map(\.name) == ["gold"])
    #expect(works.map { $0.cabinet?.name } == ["top", "top"])
    let error = #expect(throws: StoreError.self) { try context.delete(works[0]) }
    #expect(error?.code == .deleteDenied)
    try context.delete(works[1])
    let cabinets = context.find(Cabinet.self) { $0.works.contains(works[1]) }
    #expect(try cabinets.count() == 0)
    try context.save()

    #expect(try store["Cabinet"].find("[records] = 2 OR [works] = 2").count() == 0)
    let fresh = ObjectContext(store)
    fresh.register(Work.self)
    let cabinet = try #require(try fresh.all(Cabinet.self).first)
    #expect(cabinet.works.map(\.title) == ["a"] && cabinet.best == nil)
    cabinet.works.append(Work("c"))
    try fresh.save()
    #expect(cabinet.works.map { $0.cabinet === cabinet } == [true, true])
  }

  @Test("Documents that receive the former name of a relationship later are found")
  func laterFormerNames() throws {
    let context = ObjectContext(store)
    context.register(Prize.self, Cabinet.self)
    let works = try ["a", "b"].map { try context.insert(Work($0)) }
    try context.save()
    #expect(works.allSatisfy { $0.prizes.isEmpty && $0.cabinet == nil })
    try store["Prize"].insert(["name": "gold", "record": 1])
    try store["Cabinet"].insert(["name": "top", "records": [1, 2]])

    try context.delete(works[1])
    try context.save()

    #expect(try store["Cabinet"].find("[records] = 2 OR [works] = 2").count() == 0)
    context.refreshAll()
    #expect(works[0].prizes.map(\.name) == ["gold"] && works[0].cabinet?.name == "top")
  }

  @Test("A rule finds an owner by a former name of any relationship of the owner's class")
  func formerNameOfSecondRelationship() throws {
    let context = ObjectContext(store)
    context.register(Wine.self)
    let grape = try context.insert(Grape("Merlot"))
    try context.save()
    #expect(grape.wines.isEmpty)
    try store["Wine"].insert(["name": "Petrus", "fruit": 1])

    let error = #expect(throws: StoreError.self) { try context.delete(grape) }

    #expect(error?.code == .deleteDenied)
  }

  @Test("A document of a newer version can be read, changed and undone, and keeps its version")
  func newer() throws {
    let newer = ObjectContext(store)
    let contact = try #require(try newer.find(ThirdVersion.Contact.self).first())
    contact.number = "7"
    try newer.save()
    let older = ObjectContext(store)
    let old = try #require(try older.find(SecondVersion.Contact.self).first())
    old.first = "renamed"
    try older.save()
    try older.undo()
    try older.save()
    let again = try #require(try ObjectContext(store).find(ThirdVersion.Contact.self).first())
    #expect(again.first == "c1" && again.number == "7")
    #expect(
      try store.sql(#"SELECT version AS n FROM "Contact" WHERE id = 1"#).first?["n"] == 3)
  }
}
