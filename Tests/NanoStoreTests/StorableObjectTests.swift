// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Objects of custom classes")
struct StorableObjectTests {
  struct Car: StorableObject, Codable, Equatable {
    var key: String
    var name: String
    var storedKey: String? { key }
  }

  class Shape: StorableObject {
    let name: String
    init(name: String) { self.name = name }
    required init(document: Document) throws { name = document["name"]?.string ?? "" }
    var storedKey: String? { name }
    func storedFields() throws -> DocumentObject { ["name": .string(name)] }
    class var storedName: String { "Shape" }
  }
  final class Circle: Shape {
    var radius = 0.0
    init(name: String, radius: Double) {
      self.radius = radius
      super.init(name: name)
    }
    required init(document: Document) throws {
      radius = document["radius"]?.double ?? 0
      try super.init(document: document)
    }
    override func storedFields() throws -> DocumentObject {
      var fields = try super.storedFields()
      fields["radius"] = .double(radius)
      return fields
    }
    override class var storedName: String { "Circle" }
  }

  private func store() throws -> Store {
    let store = try anyStore()
    store.register(Car.self)
    store.register(Shape.self)
    store.register(Circle.self)
    return store
  }

  @Test("An object is returned as its class from a mixed collection")
  func mixed() throws {
    let store = try store()
    let all = store["all"]
    try all.save(objects: [
      Car(key: "c", name: "Mercedes"), Circle(name: "o", radius: 2), Shape(name: "s"),
      Document(["free": true], key: "d"),
    ])
    let objects = try all.find().objects()
    #expect(
      objects.map { String(describing: type(of: $0)) } == ["Car", "Circle", "Shape", "Document"])
    #expect(objects[0] as? Car == Car(key: "c", name: "Mercedes"))
    #expect((objects[1] as? Circle)?.radius == 2)
    #expect(try all.types() == ["Car", "Circle", "Shape"])
    #expect(try all.find(type: "Shape").count() == 1)
    #expect(try all.find().objects(of: Shape.self).map(\.name) == ["o", "s"])
    #expect(try all.find().objects(of: Shape.self, includingSubclasses: false).map(\.name) == ["s"])
  }

  @Test("A program without the class preserves its name and all fields")
  func unknown() throws {
    let scratch = try Scratch()
    let known = try Store.file(scratch.file("a.db"))
    known.register(Car.self)
    try known["all"].save(Car(key: "c", name: "Mercedes"))
    try known.close()

    let other = try Store.file(scratch.file("a.db"))
    var document = try #require(try other["all"].object("c") as? Document)
    #expect(document.type == "Car")
    document["wheels"] = 4
    try other["all"].save(document)
    try other.close()

    try known.reopen()
    #expect(try known["all"].object("c") as? Car == Car(key: "c", name: "Mercedes"))
    #expect(try known["all"].get("c")?["wheels"] == 4)
    try known.close()
  }

  @Test("A renamed class reads objects stored under its old name, and stores the new name")
  func renamed() throws {
    struct Automobile: StorableObject, Codable {
      var key: String
      var name: String
      var storedKey: String? { key }
    }
    let scratch = try Scratch()
    let old = try Store.file(scratch.file("a.db"))
    try old["all"].save(Car(key: "c", name: "Mercedes"))
    try old.close()
    let store = try Store.file(scratch.file("a.db"))
    store.register(Automobile.self, as: "Auto", aliases: ["Car"])
    let found = try #require(try store["all"].find().objects(of: Automobile.self).first)
    #expect(found.name == "Mercedes")
    try store["all"].save(found)
    #expect(try store["all"].types() == ["Auto"])
    try store.close()
  }

  @Test(
    "Fields that do not match the class throw when the object is read, and the document is unchanged"
  )
  func mismatchedFields() throws {
    let store = try store()
    try store["all"].insert(Document(["other": 1], key: "c", type: "Car"))
    #expect(throws: (any Error).self) { try store["all"].object("c") }
    #expect(try store["all"].get("c")?["other"] == 1)
  }

  @Test("An object of an unregistered class without a key replaces its document")
  func unregisteredWithoutKey() throws {
    let store = try anyStore()
    let log = try store.createCollection("log", identity: .rowID)
    try log.insert([["n": 1], ["n": 2]] as [DocumentObject])
    func saved(_ object: some StorableObject) throws -> Int64? { try log.save(object).rowID }
    #expect(try log.find().objects().map { try saved($0) } == [1, 2])
    #expect(try log.count() == 2)
    #expect(try log.save(objects: log.find().objects()) == [1, 2])
    #expect(try log.count() == 2)
    // In another collection, they are new.
    let archive = try store.createCollection("archive", identity: .rowID)
    try archive.insert(["n": 0])
    #expect(try archive.save(objects: log.find().objects()) == [2, 3])
    #expect(try archive.get(rowID: 1)?["n"] == 0)
  }
}
