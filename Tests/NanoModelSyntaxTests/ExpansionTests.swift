// SPDX-License-Identifier: MIT

import Testing

@Suite("Macro expansion of models")
struct ExpansionTests {
  @Test("A struct gets its conformance, and keeps its memberwise initializer")
  func structure() {
    expectExpansion(
      """
      @Model(collection: "people", version: 2)
      public struct Person {
        @Key var id: String?
        @Field("Name", renamedFrom: "n") var name: String
        @Indexed var age: Int?
        var kind: Kind = .good
      }
      """,
      #"""
      public struct Person {
        var id: String?
        var name: String
        var age: Int?
        var kind: Kind = .good

        public var _$unknownFields = NanoStoreModels.UnknownFields()

        @inline(__always)
        nonisolated private static func _$read(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) -> Self {
          try _$reader.enter()
          let _$start = _$reader
          inOrder: do {
            guard !_$reader.readsByName else {
              break inOrder
            }
            guard _$reader.match("{") else {
              break inOrder
            }
            let _$f0: Swift.Optional<String>
            if case .none = _$key {
              _$f0 = _$reader.matchField(",\"id\":") ? _$reader.consumeNull() ? Swift.Optional<String>.none : try _$reader.string() : nil
            } else {
              _$f0 = try NanoStoreModels.ModelCoding.readKey(Swift.Optional<String>.self, _$key)
            }
            guard _$reader.matchField(",\"Name\":") else {
              break inOrder
            }
            let _$f1: String = try _$reader.string()
            let _$f2: Swift.Optional<Int> = _$reader.match(",\"age\":") ? _$reader.consumeNull() ? Swift.Optional<Int>.none : try _$reader.integer(as: Swift.Int.self) : Swift.Optional<Int>.none
            let _$f3AcceptsNull = NanoStoreModels.ModelCoding.missing(Kind.self) != nil
            let _$f3: Kind = _$reader.match(",\"kind\":") && (_$f3AcceptsNull || !_$reader.consumeNull()) ? try NanoStoreModels.ModelCoding.read(Kind.self, &_$reader) : .good
            guard _$reader.match("}") else {
              break inOrder
            }
            _$reader.leave()
            return Self(id: _$f0, name: _$f1, age: _$f2, kind: _$f3)
          }
          _$reader = _$start
          _$reader.readsByName = true
          return try Self._$readByName(&_$reader, _$key)
        }

        @inline(never)
        nonisolated private static func _$readByName(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) -> Self {
          let _$fields = try NanoStoreModels.FieldSearch(_$reader)
          let _$f0: Swift.Optional<String>
          if case .none = _$key {
            _$f0 = try _$fields.find("id", reader: &_$reader) ? _$reader.consumeNull() ? Swift.Optional<String>.none : try _$reader.string() : nil
          } else {
            _$fields.ignore("id")
            _$f0 = try NanoStoreModels.ModelCoding.readKey(Swift.Optional<String>.self, _$key)
          }
          guard try _$fields.find("Name", "n", reader: &_$reader) else {
            throw _$fields.missingField("Name")
          }
          let _$f1: String = try _$reader.string()
          let _$f2: Swift.Optional<Int> = try _$fields.find("age", reader: &_$reader) ? _$reader.consumeNull() ? Swift.Optional<Int>.none : try _$reader.integer(as: Swift.Int.self) : Swift.Optional<Int>.none
          let _$f3AcceptsNull = NanoStoreModels.ModelCoding.missing(Kind.self) != nil
          let _$f3: Kind = try (_$f3AcceptsNull ? _$fields.find("kind", reader: &_$reader) : _$fields.findValue("kind", reader: &_$reader)) ? try NanoStoreModels.ModelCoding.read(Kind.self, &_$reader) : .good
          let _$unknown = try _$fields.finish(&_$reader)
          _$reader.leave()
          var _$value = Self(id: _$f0, name: _$f1, age: _$f2, kind: _$f3)
          _$value._$unknownFields = _$unknown
          return _$value
        }

        nonisolated private static func _$check() {
          do {
            let _$found = NanoStoreModels.PropertyCheck.stored(Kind.self)
            @available(*, unavailable, message: "documents cannot store its type 'Kind'; make Kind Codable or a '@Model' struct, or mark 'kind' with '@Transient'")
            func kind(_: NanoStoreModels.PropertyCheck.Failed) {
            }
            func kind(_: NanoStoreModels.PropertyCheck.Passed) {
            }
            #sourceLocation(file: "Test.swift", line: 6)
            kind(_$found)
            #sourceLocation()
          }
        }

        nonisolated public static var modelFields: [NanoStoreModels.ModelField<Self>] {
          return [
            NanoStoreModels.ModelField("id", \Self.id, \Self?.?.id, traits: [.key]),
            NanoStoreModels.ModelField("Name", \Self.name, \Self?.?.name, formerNames: ["n"]),
            NanoStoreModels.ModelField("age", \Self.age, \Self?.?.age, traits: [.indexed]),
            NanoStoreModels.ModelField("kind", \Self.kind, \Self?.?.kind, constant: {
                .good
              })
          ]
        }
      }

      nonisolated extension Person: NanoStoreModels.Model, NanoStoreModels.KeyedModel, Swift.CustomReflectable {
        public static var collectionName: Swift.String {
          "people"
        }

        public static var modelVersion: Swift.Int {
          2
        }

        public static var _$namesCollection: Swift.Bool {
          true
        }

        public var documentKey: NanoStoreModels.DocumentKey? {
          get throws(NanoStoreModels.StoreError) {
            try NanoStoreModels.ModelCoding.key(self.id)
          }
        }

        public func write(to writer: inout NanoStoreModels.JSONWriter) {
          _$write(to: &writer, isDocument: false)
        }

        public func writeDocument(to writer: inout NanoStoreModels.JSONWriter) {
          _$write(to: &writer, isDocument: true)
        }

        private func _$write(to writer: inout NanoStoreModels.JSONWriter, isDocument: Swift.Bool) {
          guard writer.enter() else {
            return
          }
          writer.literal("{")
          if !isDocument, self.id != nil {
            writer.fieldLiteral(",\"id\":")
            NanoStoreModels.ModelCoding.write(self.id, &writer)
          }
          writer.fieldLiteral(",\"Name\":")
          writer.string(self.name)
          if let value = self.age {
            writer.literal(",\"age\":")
            writer.integer(value)
          }
          writer.literal(",\"kind\":")
          NanoStoreModels.ModelCoding.write(self.kind, &writer)
          self._$unknownFields.write(to: &writer)
          writer.literal("}")
          writer.leave()
        }

        public var customMirror: Swift.Mirror {
          Swift.Mirror(self, children: ["id": self.id as Any, "name": self.name as Any, "age": self.age as Any, "kind": self.kind as Any], displayStyle: .struct)
        }

        public init(reading reader: inout NanoStoreModels.JSONReader) throws(NanoStoreModels.StoreError) {
          try self.init(reading: &reader, key: .none)
        }

        public init(reading reader: inout NanoStoreModels.JSONReader, key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) {
          self = try Self._$read(&reader, key)
        }
      }
      """#)
  }

  @Test("A class also gets its initializers")
  func object() {
    expectExpansion(
      """
      @available(macOS 26, *)
      @Model final class Person {
        var name = "nobody"
      }
      """,
      #"""
      @available(macOS 26, *)
      final class Person {
        @NanoStoreModels._TrackedProperty
        var name = "nobody"

        var _$unknownFields = NanoStoreModels.UnknownFields()

        init(reading reader: inout NanoStoreModels.JSONReader) throws(NanoStoreModels.StoreError) {
          throw NanoStoreModels.ModelCoding.embeddingError(Self.self)
        }

        init(reading reader: inout NanoStoreModels.JSONReader, key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) {
          let read = try Self._$read(&reader, key)
          self._$f_name = read.0
          self._$unknownFields = read.1
        }

        init() {
        }

        @exclusivity(unchecked) var _$object = NanoStoreModels.ObjectState()

        init(_$fault: Swift.Void) {
          self._$f_name = nil
        }

        func _$fill(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) {
          let _$read = try Self._$read(&_$reader, _$key)
          if _$object.isObserved {
            return _$replace(with: _$read)
          }
          self._$f_name = _$read.0
          self._$unknownFields = _$read.1
        }

        @inline(never)
        private func _$replace(with _$read: (String, NanoStoreModels.UnknownFields)) {
          let _$isSame: [Swift.Bool] = [NanoStoreModels.ModelCoding.isSame(self._$f_name, _$read.0)]
          self._$f_name = _$read.0
          self._$unknownFields = _$read.1
          if !_$isSame[0] {
            _$notify(\.name)
          }
        }

        func _$fillWithFirstValues() {
          self._$f_name = "nobody" as String
          guard _$object.isObserved else {
            return
          }
          _$notify(\.name)
        }

        @inline(__always)
        nonisolated private static func _$read(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) -> (String, NanoStoreModels.UnknownFields) {
          try _$reader.enter()
          let _$start = _$reader
          inOrder: do {
            let _$f0: String = _$reader.match("{\"name\":") && !_$reader.consumeNull() ? try _$reader.string() : "nobody"
            guard _$reader.match("}") else {
              break inOrder
            }
            _$reader.leave()
            return (_$f0, NanoStoreModels.UnknownFields())
          }
          _$reader = _$start
          return try Self._$readByName(&_$reader, _$key)
        }

        @inline(never)
        nonisolated private static func _$readByName(_ _$reader: inout NanoStoreModels.JSONReader, _ _$key: NanoStoreModels.BorrowedKey) throws(NanoStoreModels.StoreError) -> (String, NanoStoreModels.UnknownFields) {
          let _$fields = try NanoStoreModels.FieldSearch(_$reader)
          let _$f0: String = try _$fields.findValue("name", reader: &_$reader) ? try _$reader.string() : "nobody"
          let _$unknown = try _$fields.finish(&_$reader)
          _$reader.leave()
          return (_$f0, _$unknown)
        }

        nonisolated static var modelFields: [NanoStoreModels.ModelField<Person>] {
          typealias _$Model = Person
          return [
            NanoStoreModels.ModelField("name", \_$Model.name, \_$Model?.?.name, constant: {
                "nobody"
              })
          ]
        }
      }

      @available(macOS 26, *)
      nonisolated extension Person: NanoStoreModels.Model, NanoStoreModels.GraphObject {
        static var collectionName: Swift.String {
          "Person"
        }

        static var modelVersion: Swift.Int {
          1
        }

        func write(to writer: inout NanoStoreModels.JSONWriter) {
          NanoStoreModels.ModelCoding.rejectEmbedding(Self.self, &writer)
        }

        func writeDocument(to writer: inout NanoStoreModels.JSONWriter) {
          _$write(to: &writer, isDocument: true)
        }

        func _$writeSnapshot(to writer: inout NanoStoreModels.JSONWriter) {
          _$write(to: &writer, isDocument: false)
        }

        private func _$write(to writer: inout NanoStoreModels.JSONWriter, isDocument: Swift.Bool) {
          if _$object.isFault {
            _$load()
          }
          guard writer.enter() else {
            return
          }
          writer.literal("{\"name\":")
          writer.string(self._$f_name!)
          self._$unknownFields.write(to: &writer)
          writer.literal("}")
          writer.leave()
        }
      }
      """#)
  }

  @Test("A mirror shows all stored properties of a struct except lazy ones")
  func mirror() {
    let expanded = Diagnosis(
      "@Model struct P { var a = 1, b = 2; @Transient var c = 3; @Transient lazy var d = 4; var e: Int { 5 } }"
    ).expanded
    #expect(
      expanded.contains(
        #"children: ["a": self.a as Any, "b": self.b as Any, "c": self.c as Any]"#))
    #expect(!Diagnosis("@Model final class P { var a = 1 }").expanded.contains("customMirror"))
  }

  @Test(
    "A constant initial value is also the default in queries",
    arguments: [
      ("T", ".good"), ("Role", "Role.guest"), ("Role?", "Role.guest"),
      ("Optional<Shop.Role>", "Shop.Role.guest"), ("T", "[\"a\": 1, \"b\": 2]"), ("T", "[:]"),
      ("T", "[String]()"), ("T", "[String: Int]()"), ("T", "Set<Int>()"), ("T", "Money(0)"),
    ])
  func constants(type: String, value: String) {
    let expanded = Diagnosis("@Model struct P { var a: \(type) = \(value) }").expanded
    #expect(expanded.contains("constant: { \(value) }"))
    #expect(!expanded.contains(".computedDefault"))
  }

  @Test(
    "An initial value that can differ between documents is no default in queries",
    arguments: [
      ("T", ".now"), ("T", "T.now"), ("T", "Date()"), ("Date", "Date(timeIntervalSinceNow: 60)"),
      ("T", "config.level"), ("T", "Config.level"),
      ("T", "Config.shared.level"), ("UUID", "Session.currentID"), ("Date", "Date.today"),
      ("UUID?", "UUID.random"), ("Foundation.Date", "Foundation.Date.today"),
      ("Locale", "Locale.current"), ("T", "make()"), ("T", "[\"a\": Date()]"), ("T", "[key: 1]"),
    ])
  func computed(type: String, value: String) {
    let expanded = Diagnosis("@Model struct P { var a: \(type) = \(value) }").expanded
    #expect(!expanded.contains("constant: {"))
    #expect(expanded.contains(".computedDefault"))
  }

  @Test("The rule of expiration is a member of the type, where its names are in scope")
  func expiration() {
    let expanded = Diagnosis(
      "enum Shop { @Model(expires: .after(day)) struct P { var a: Int } }"
    ).expanded
    let parts = expanded.split(separator: "nonisolated extension")
    #expect(parts.count == 2)
    #expect(
      parts.first?.contains("expirationRule: NanoStoreModels.ExpirationRule? { .after(day) }")
        == true)
  }

  @Test("A class with only convenience initializers keeps its default initializer")
  func convenience() {
    let convenience = "convenience init(b: Int) { self.init() }"
    #expect(
      Diagnosis("@Model final class P { var a = 1; \(convenience) }").expanded.contains("init() {}")
    )
    #expect(
      !Diagnosis("@Model final class P { var a = 1; \(convenience); init() { a = 2 } }").expanded
        .contains("init() {}"))
  }

  @Test("Generated code quotes names that are no identifiers")
  func rawIdentifiers() {
    let structure = Diagnosis("@Model struct P { var `first name`: String; var `2024` = 1 }")
    #expect(structure.messages == [])
    #expect(structure.expanded.contains("Self(`first name`: _$f0, `2024`: _$f1)"))
    #expect(structure.expanded.contains(#"ModelField("first name", \Self.`first name`,"#))
    let object = Diagnosis(
      "@Model final class P { var `first name` = \"\"; var `2024` = 1 }"
    ).expanded
    #expect(object.contains("self.`_$f_first name` = _$read.0"))
    #expect(object.contains("self._$f_2024 = _$read.1"))
  }

  @Test("Properties with built-in types get no compile-time check")
  func checks() {
    for type in [
      "Int", "[String]", "Set<Date>?", "[String: [UUID?]]", "Swift.Array<Foundation.URL>",
    ] {
      #expect(!Diagnosis("@Model struct P { var a: \(type) }").expanded.contains("_$check"))
    }
    for type in ["Kind", "[Kind]", "Kind?", "[Kind: Int]", "[String: Kind]", "Box<Int>"] {
      #expect(Diagnosis("@Model struct P { var a: \(type) }").expanded.contains("_$check"))
    }
  }

  @Test("Generated code refers to types without conflicting with names in the source")
  func names() {
    let expanded = Diagnosis(
      "@Model struct P { var a: Int = start; init() {} }"
    ).expanded
    #expect(expanded.contains(": (start)"))
    #expect(!expanded.contains("let start"))
  }
}
