// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Indexes")
struct IndexTests {
  let scratch: Scratch
  let store: Store
  let people: DocumentCollection

  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    people = store["people"]
    try people.save(
      ["name": "Ada", "address": ["city": "London", "zip": 1], "tags": ["x", "y"]], key: "ada")
    try people.save(
      ["name": "Bob", "address": ["city": "Paris", "zip": 2], "tags": ["z"]], key: "bob")
  }

  @Test("Documents without the field match the negation of a look-up in an index on elements")
  func negatedElements() throws {
    let c = try anyStore()["c"]
    try c.insert([["tags": ["x", "y"]], ["tags": ["z"]], ["n": 1]])
    try c.createIndex("tags", elements: true)
    #expect(try c.find(!(Field("tags") == "x")).rowIDs() == [2, 3])
    #expect(try c.find(!(Field("tags") == "x" && Field("n") == 1)).count() == 3)
    try c.insert(["tags": [["x"], "w"]])
    #expect(try c.find(!(Field("tags") == "x")).rowIDs() == [2, 3])
    try c.setIndexing(.everything)
    #expect(try c.find(!(Field("tags") == "x")).rowIDs() == [2, 3])
  }

  @Test("An index on a numbered element contains whole values; a quoted number is a field name")
  func numberedElements() throws {
    try people.save(["tags": [["1": "x"]]], key: "deep")
    let numbered = try people.createIndex("tags.0")
    let named = try people.createIndex(#"tags."1""#)
    let deep = try people.createIndex(#"tags.0."1""#)

    #expect(numbered.kind == .fields)
    #expect(named.kind == .elements)
    #expect(deep.kind == .fields)
    #expect(try people.find("[tags.0] = 'z'").fetch().map(\.key) == ["bob"])
    #expect(try people.find(#"[tags."1"] = 'x'"#).fetch().map(\.key) == ["deep"])
    #expect(try people.find(#"[tags."0"] = 'z'"#).count() == 0)
    #expect(try people.find(#"[tags."1"] = 'x'"#).explain().indexes.contains(named.name))
    #expect(Set(try people.indexes()).isSuperset(of: [numbered, named, deep]))
    let refused = error { try people.createIndex("tags.0", elements: true) }
    #expect(refused?.code == .unsupported)
  }

  @Test(
    "A unique index on a name of digits does not contain elements of arrays",
    arguments: [#"m."0""#, #"m."-1""#, #"m."01""#, "m.1"])
  func numberedNames(path: String) throws {
    let c = try anyStore()["numbers"]
    try c.createIndex(path, unique: true)
    for _ in 0..<2 { try c.insert(["m": ["x", "y"]]) }
    #expect(try c.count() == 2)
    let entry: DocumentObject = [FieldPath(path).components[1]: "x"]
    try c.insert(["m": .object(entry)])
    #expect(error { try c.insert(["m": .object(entry)]) }?.code == .uniqueViolation)
  }

  @Test(
    "Indexes of one transaction are used in it, and exist only if it commits",
    arguments: [true, false])
  func several(commits: Bool) throws {
    struct Undone: Error {}
    let paths = ["name", "-address.zip", "tags", "address.city", "unused"]
    var created: [IndexDefinition] = []
    do {
      try store.write {
        for path in paths { created.append(try people.createIndex(path)) }
        try people.save(["name": "Cleo", "address": ["city": "Oslo"], "tags": ["x"]], key: "cleo")
        #expect(try people.indexes() == created.sorted { $0.name < $1.name })
        #expect(try people.find("[tags] = 'x'").count() == 2)
        #expect(
          try people.find("[address.city] = 'Oslo'").explain().indexes == [created[3].name])
        #expect(throws: StoreError.self) {
          try people.createIndex("zip", name: created[0].name)
        }
        if !commits { throw Undone() }
      }
    } catch is Undone {}

    let other = try Store.file(scratch.file("a.db"))
    for store in [store, other] {
      let people = store["people"]
      #expect(try people.indexes().count == (commits ? paths.count : 0))
      let found = try people.find("[address.city] = 'Paris'")
      #expect(try found.explain().indexes == (commits ? [created[3].name] : []))
      #expect(try found.fetch().map(\.key) == ["bob"])
      #expect(try store.verify().isEmpty)
    }
  }

  static let kinds: [(name: String, paths: [String], elements: Bool, clash: DocumentObject)] = [
    ("field", ["name"], false, ["name": "Ada"]),
    ("nested", ["address.city"], false, ["address": ["city": "London"]]),
    (
      "compound", ["name", "-address.zip"], false, ["name": "Ada", "address": ["zip": 1]]
    ),
    ("elements", ["tags"], true, ["tags": ["new", "y"]]),
    ("scalarElement", ["tags"], true, ["tags": "x"]),
  ]

  @Test(
    "A unique violation names index and document, and changes nothing", arguments: kinds.indices)
  func violations(kind: Int) throws {
    let (name, paths, elements, clash) = Self.kinds[kind]
    try people.createIndex(paths: paths, unique: true, elements: elements, name: name)
    let before = try people.fetch().map { try $0.object() }

    let calls: [(String, () throws -> Void)] = [
      ("insert", { try people.insert(clash) }),
      ("save new", { try people.save(clash, key: "new") }),
      ("save over", { try people.save(clash, key: "bob") }),
      ("batch", { try people.insert([["n": 1], clash]) }),
      (
        "document",
        {
          let bob = try #require(try people.get("bob"))
          try people.save(Document(bob.object().merging(clash), key: "bob"))
        }
      ),
      (
        "update",
        { try people.update("bob", changes(clash)) }
      ),
      ("update row", { try people.find(Field("name") == "Bob").update(changes(clash)) }),
      ("block", { try store.write { _ = try people.insert(clash) } }),
      ("SQL", { try store.execute("INSERT INTO people(body) VALUES (?)", json(clash)) }),
    ]
    for (call, run) in calls {
      let error = error { try run() }
      #expect(error?.code == .uniqueViolation, "\(name) \(call) \(error?.debugDescription ?? "")")
      guard call != "SQL" else { continue }
      #expect(error?[.index] == name, "\(call)")
      #expect(error?[.collection] == "people")
      #expect(error?[.key] == "ada" && error?[.rowID] == "1", "\(call)")
      #expect(error?.description.contains("ada") == false)
    }
    #expect(try people.fetch().map { try $0.object() } == before)
    #expect(try people.find(Field("tags") == "new").count() == 0)
    #expect(try store.verify().isEmpty)
    // A document can keep its own values and reuse values that were deleted.
    try people.save(before[0], key: "ada")
    try people.delete("ada")
    try people.insert(clash)
    #expect(try store.verify().isEmpty)
  }

  private func json(_ object: DocumentObject) throws -> String {
    let copy = try anyStore()["a"].insert(object)
    return try copy.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test("A violation names the other document, even if both share elements")
  func sharedElements() throws {
    try people.createIndex("tags", unique: true, elements: true)
    let error = error { try people.save(["tags": ["x", "y", "z"]], key: "ada") }
    #expect(error?[.key] == "bob")
  }

  @Test("A unique index is not created over documents that violate it")
  func collidingData() throws {
    try people.save(["name": "Ada", "tags": ["y"]], key: "ada2")
    for (paths, elements) in [(["name"], false), (["tags"], true)] {
      let error = error { try people.createIndex(paths: paths, unique: true, elements: elements) }
      #expect(error?.code == .uniqueViolation)
      #expect(error?[.index] != nil && error?[.collection] == "people")
    }
    #expect(try people.indexes().isEmpty)
    #expect(try store.sql("SELECT name FROM sqlite_schema WHERE name LIKE '%elements%'").isEmpty)
    #expect(try people.find(Field("name") == "Ada").count() == 2)
    try people.insert(["name": "Ada"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Missing and null values never violate a unique index")
  func missing() throws {
    try people.createIndex("email", unique: true, elements: false)
    try people.createIndex("emails", unique: true, elements: true)
    try people.insert([["n": 1], ["email": nil, "emails": []], ["email": nil]])
    #expect(try people.count() == 5)
  }

  @Test(
    "A field whose name SQLite cannot address is not indexed", arguments: ["a\"b", "a\\b", "a\nb"])
  func unsupported(name: String) throws {
    let path = FieldPath(components: [name]).description
    try people.insert([name: 1] as DocumentObject)
    for elements in [false, true] {
      let error = error { try people.createIndex(paths: [path], elements: elements) }
      #expect(error?.code == .unsupported)
      #expect(error?[.hint] != nil)
    }
    #expect(code { try people.createIndex("tags.0", elements: true) } == .unsupported)
    #expect(try people.indexes().isEmpty)
    #expect(try people.find(Field(path) == 1).count() == 1)
  }

  @Test(
    "Conditions with thousands of alternatives or parts find the same documents as short ones",
    arguments: [false, true])
  func longConditions(indexesEverything: Bool) throws {
    let c = store["numbers"]
    try c.insert([["n": 7], ["n": 70_000]])
    if indexesEverything { try c.setIndexing(.everything) } else { try c.createIndex("n") }

    for count in [64, 65, 1_000, 3_000, 40_000] {
      let numbers = 0..<count
      let alternatives = Condition.any(numbers.map { Field("n") == $0 })
      #expect(try c.find(alternatives).rowIDs() == [1])
      let parts = Condition.all(numbers.map { Field("n") >= -$0 })
      #expect(try c.find(parts && Field("n") < 8).rowIDs() == [1])
      let lists = (0..<4).map { _ in Field("n").isIn(Array(numbers.prefix(16_000))) }
      #expect(try c.find(Condition.all(lists)).rowIDs() == [1])
    }
    let several = Condition.any((0..<1_000).map { Field("n") == $0 })
    #expect(try c.find(several).explain().indexes == [indexesEverything ? "everything" : "n"])
  }

  @Test(
    "Deeply nested conditions find the same documents as flat ones", arguments: [false, true])
  func nestedConditions(indexesEverything: Bool) throws {
    let c = store["numbers"]
    try c.insert([["n": 7], ["n": 70]])
    if indexesEverything { try c.setIndexing(.everything) } else { try c.createIndex("n") }

    let alternatives = (0..<40).reduce(Condition.any([])) { Field("n") == $1 || $0 }
    #expect(try c.find(alternatives).rowIDs() == [1])
    #expect(try c.find(alternatives).explain().indexes == [indexesEverything ? "everything" : "n"])
    let (positive, negative): (Condition, Condition) = (Field("n") > 0, Field("n") == -1)
    for count in [10, 16, 17, 40] {
      let nested = (0..<count).reduce(Field("n") == 7) { (inner, number) -> Condition in
        number.isMultiple(of: 2) ? .any([negative, inner]) : .all([positive, inner])
      }
      #expect(try c.find(nested).rowIDs() == [1])
      #expect(try c.find(nested).count() == 1)
    }
    let text =
      String(repeating: "[__rowid__] < 9 AND ([__rowid__] = 9 OR (", count: 15)
      + "[__rowid__] = 2" + String(repeating: "))", count: 15)
    #expect(try c.find(text).rowIDs() == [2])
  }

  @Test("Related documents of related documents are found at any depth")
  func nestedRelated() throws {
    let staff = store["staff"]
    try staff.createIndex("boss")
    for number in 0..<14 {
      try staff.save(["boss": .string("k\(number - 1)")], key: "k\(number)")
    }
    for depth in 1...12 {
      let condition = (0..<depth).reduce(Field("boss") == "k-1") { (inner, _) -> Condition in
        Field("boss").related(in: staff).has(inner)
      }
      #expect(try staff.find(condition).keys() == ["k\(depth)"])
    }
  }

  @Test("Index names that differ only in case or in where their parts join are different indexes")
  func namesDoNotCollide() throws {
    try store["a"].createIndex("n", name: "b_c")
    try store["a_b"].createIndex("n", name: "c")
    try store["A_B"].createIndex("Name", elements: false)
    try store["a_b"].createIndex("name", elements: false)
    try store["a_b"].createIndex("list", elements: true, name: "list")
    try store["a_b"].createIndex("list2", elements: true, name: "list_id")
    try store["a_b"].insert(["Name": 1, "name": 2, "n": 3, "list": [1], "list2": [2]])
    let a = store["a_b"]
    for (path, value) in [("Name", 1), ("name", 2), ("n", 3), ("list", 1), ("list2", 2)] {
      #expect(try a.find(Field(path) == value).count() == 1)
      #expect(try a.find(Field(path) == value).explain().indexes.count == 1, "\(path)")
    }
    #expect(try a.dropIndex("name"))
    #expect(try a.find(Field("Name") == 1).explain().indexes == ["Name"])
    #expect(try store.verify().isEmpty)
    #expect(try a.drop())
    #expect(try store["a"].indexes().map(\.name) == ["b_c"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A field named like the collection's key column is not mistaken for the key")
  func keyLikeField() throws {
    try people.createIndex("people.key", unique: true)
    try people.insert(["people": ["key": 1]])
    let error = error { try people.insert(["people": ["key": 1]]) }
    #expect(error?.code == .uniqueViolation)
    #expect(error?[.index] == "people.key_unique")
  }

  @Test("Creating an index is idempotent, and a different definition with its name is rejected")
  func creatingTwice() throws {
    let index = try people.createIndex("name", name: "i")
    #expect(try people.createIndex("name", name: "i") == index)
    #expect(code { try people.createIndex("address.city", name: "i") } == .alreadyExists)
    #expect(code { try people.createIndex("name", unique: true, name: "i") } == .alreadyExists)
    #expect(code { try people.createIndex("name", "name") } == .invalidArgument)
    #expect(code { try people.createIndex(paths: []) } == .invalidArgument)
    #expect(code { try people.createIndex("name", "tags", elements: true) } == .invalidArgument)
    #expect(try people.indexes() == [index])
  }

  @Test("A dropped index is no longer used, and a dropped collection leaves nothing")
  func dropping() throws {
    try people.createIndex("name")
    try people.createIndex("tags")
    #expect(try people.find(Field("name") == "Ada").explain().indexes == ["name"])
    #expect(try people.dropIndex("name"))
    #expect(try people.dropIndex("name") == false)
    #expect(try people.find(Field("name") == "Ada").explain().indexes.isEmpty)
    #expect(try people.find(Field("name") == "Ada").count() == 1)
    #expect(try people.drop())
    #expect(try people.drop() == false)
    #expect(
      try store.sql("SELECT name FROM sqlite_schema WHERE name LIKE '%people%'").isEmpty)
    #expect(try store.sql("SELECT * FROM nano_paths").isEmpty)
    try people.save(["name": ["Ada"]], key: "ada")
    #expect(try people.find(Field("name") == "Ada").count() == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("Indexes and their constraints persist when the store is reopened")
  func reopening() throws {
    try people.createIndex("name", unique: true)
    try people.createIndex("tags", "address.zip", name: "both")
    try people.createIndex("tags")
    let before = try people.indexes()
    try store.close()
    try store.reopen()
    #expect(try people.indexes() == before)
    #expect(try people.find(Field("tags") == "y").explain().indexes == ["tags_elements"])
    #expect(code { try people.insert(["name": "Ada"]) } == .uniqueViolation)
    #expect(try people.find(Field("tags") == "y").keys() == ["ada"])
  }
}

extension DocumentObject {
  fileprivate func merging(_ other: DocumentObject) -> DocumentObject {
    var merged = self
    for (name, value) in other { merged[name] = value }
    return merged
  }
}

private func changes(_ object: DocumentObject) -> [FieldChange] {
  object.map { .set(FieldPath(components: [$0.name]), $0.value) }
}
