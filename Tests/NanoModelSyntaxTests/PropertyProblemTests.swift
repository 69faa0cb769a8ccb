// SPDX-License-Identifier: MIT

import Testing

@Suite("Diagnostics for properties of models")
struct PropertyProblemTests {
  @Test("Lazy, weak and unowned properties are not stored", arguments: ["lazy", "weak", "unowned"])
  func modifiers(modifier: String) {
    expectProblem(
      """
      @Model final class Person {
        var a: Int
        // its friend
        →\(modifier) var b: Person? = nil
      }
      """, "a '\(modifier)' property cannot be stored in a document; mark it with '@Transient'",
      fixes: [
        "add '@Transient'": """
        @Model final class Person {
          var a: Int
          // its friend
          @Transient \(modifier) var b: Person? = nil
        }
        """
      ])
  }

  @Test(
    "A property whose type cannot be inferred requires an annotation",
    arguments: [
      "Date.now", "[]", "[:]", "nil", "f()", "Array(repeating: 0, count: 3)", "1 + 2", "[1, \"a\"]",
      ".good", "-x", "URL(string: \"a\")", "UUID(uuidString: \"a\")", "Kind(rawValue: 1)",
      "Int(\"5\")",
      "Int(exactly: 5.5)", "Double(\"1.5\")",
    ])
  func annotation(value: String) {
    expectProblem(
      "@Model struct Person { var →a = \(value) }",
      "'a' needs a type annotation, because '@Model' cannot infer its type",
      fixes: ["add a type": "@Model struct Person { var a: <#Type#> = \(value) }"])
  }

  @Test(
    "A literal, initializer call or cast determines the type",
    arguments: [
      "1", "-1", "1.5", "\"a\"", "true", "!true", "Date()", "[String]()", "[String: Int]()",
      "Set<Int>()", "[1, 2]", "[[\"a\"]]", "x as Int", "Money(1)", "\"\\(x)\"",
    ])
  func inferred(value: String) {
    expectNoProblem("@Model struct Person { var a = \(value) }")
  }

  @Test("Properties in a tuple pattern must be declared separately")
  func tuple() {
    expectProblem(
      "@Model struct Person { var →(a, b) = (1, 2) }",
      "declare each property of a '@Model' type separately")
  }

  @Test("A constant with a value is rejected because it cannot be decoded")
  func constant() {
    expectProblem(
      """
      @Model struct Person {
        →let a: Int = 5  // five
      }
      """,
      "a 'let' property with an initial value cannot be read from a document; make it a 'var' or mark it with '@Transient'",
      fixes: [
        "make it a 'var'": """
        @Model struct Person {
          var a: Int = 5  // five
        }
        """,
        "add '@Transient'": """
        @Model struct Person {
          @Transient let a: Int = 5  // five
        }
        """,
      ])
    expectNoProblem("@Model struct Person { let a: Int }")
  }

  @Test(
    "A type that documents cannot store is rejected",
    arguments: [
      ("(Int, Int)", "a tuple"), ("(Int, Int)?", "a tuple"), ("() -> Void", "a function"),
      ("(@Sendable (Int) -> Void)?", "a function"), ("@Sendable () -> Void", "a function"),
      ("any Named", "an existential or opaque"), ("(any Named)?", "an existential or opaque"),
      ("Int.Type", "a metatype"), ("A & B", "a protocol composition"), ("Void", nil),
      ("(Int)", nil),
    ] as [(String, String?)])
  func kinds(type: String, kind: String?) {
    guard let kind else { return expectNoProblem("@Model struct Person { var a: \(type) }") }
    expectProblem(
      "@Model struct Person { var a: →\(type) }",
      "'a' has \(kind) type, which documents cannot store; change the type or mark the property with '@Transient'",
      fixes: ["add '@Transient'": "@Model struct Person { @Transient var a: \(type) }"])
  }

  @Test("A transient property needs a default value")
  func transientValue() {
    expectProblem(
      "@Model struct Person { var a: Int; @Transient var →b: Int }",
      "'@Transient' property 'b' needs an initial value, because it is not read from documents")
    expectProblem(
      "@Model struct Person { var a: Int; @Transient let →b: Int? }",
      "'@Transient' property 'b' needs an initial value, because it is not read from documents")
    expectNoProblem("@Model struct Person { var a: Int; @Transient var b: Int? }")
  }

  @Test(
    "A transient property cannot have other attributes",
    arguments: ["Field(\"x\")", "Indexed", "Unique", "Key"])
  func transientMarks(mark: String) {
    let name = mark.prefix { $0 != "(" }
    expectProblem(
      "@Model struct Person { var a: Int; @Transient →@\(mark) var b = 1 }",
      "'@\(name)' cannot be combined with '@Transient'",
      fixes: ["remove '@\(name)'": "@Model struct Person { var a: Int; @Transient var b = 1 }"])
  }

  @Test("Field names are unique, including former names and the key")
  func sameNames() {
    expectProblem(
      "@Model struct Person { var a: Int; →@Field(\"a\") var b: Int }",
      "field name 'a' is already used by 'a'; choose a different name with '@Field'")
    expectProblem(
      "@Model struct Person { @Field(\"b\") var a: Int; var →b: Int }",
      "field name 'b' is already used by 'a'; choose a different name with '@Field'")
    expectProblem(
      "@Model struct Person { @Key var a: Int; →@Field(\"a\") var b: Int }",
      "field name 'a' is already used by 'a'; choose a different name with '@Field'")
    expectNoProblem("@Model struct Person { @Field(\"b\") var a: Int; @Field(\"a\") var b: Int }")
  }

  @Test("A former name must be unused and belong to one property")
  func formerNames() {
    expectProblem(
      "@Model struct Person { var a: Int; →@Field(renamedFrom: \"x\", \"a\") var b: Int }",
      "'b' cannot be renamed from 'a', which is the current field name of 'a'; remove it from 'renamedFrom'",
      fixes: [
        "remove 'a'": "@Model struct Person { var a: Int; @Field(renamedFrom: \"x\") var b: Int }"
      ])
    expectProblem(
      "@Model struct Person { →@Field(renamedFrom: \"a\") var a: Int }",
      "'a' is the current field name of 'a'; list only former names in 'renamedFrom'",
      fixes: ["remove '@Field'": "@Model struct Person { var a: Int }"])
    expectProblem(
      "@Model struct Person { →@Field(\"b\", renamedFrom: \"b\", \"c\") var a: Int }",
      "'b' is the current field name of 'a'; list only former names in 'renamedFrom'",
      fixes: [
        "remove 'b'": "@Model struct Person { @Field(\"b\", renamedFrom: \"c\") var a: Int }"
      ])
    expectProblem(
      "@Model struct Person { →@Field(renamedFrom: \"x\", \"x\") var a: Int }",
      "'x' is listed twice as a former name of 'a'; remove one",
      fixes: ["remove 'x'": "@Model struct Person { @Field(renamedFrom: \"x\") var a: Int }"])
    expectProblem(
      "@Model struct Person { @Field(renamedFrom: \"x\") var a: Int; →@Field(renamedFrom: \"x\") var b: Int }",
      "'x' is already listed as a former name of 'a'; remove one",
      fixes: [
        "remove '@Field'":
          "@Model struct Person { @Field(renamedFrom: \"x\") var a: Int; var b: Int }"
      ])
  }

  @Test("A former name can differ from the current one only in its normalization form")
  func normalizedNames() {
    expectNoProblem(
      "@Model struct Person { @Field(\"\u{e9}\", renamedFrom: \"e\u{301}\") var a: Int }")
  }

  @Test(
    "A type that cannot be a key is rejected with @Key",
    arguments: ["Double", "Date?", "Bool", "Data", "Swift.Float", "[String]", "Set<UUID>"])
  func keyTypes(type: String) {
    var fixes = ["remove '@Key'": "@Model struct Person { var a: \(type) }"]
    if !type.contains("[") && !type.contains("<") {
      fixes["replace '@Key' with '@Unique'"] = "@Model struct Person { @Unique var a: \(type) }"
    }
    expectProblem(
      "@Model struct Person { →@Key var a: \(type) }",
      "'a' has type '\(type)', which cannot be a key; use 'String', 'UUID', 'Int', 'Int64' or a type that conforms to 'ModelKey'",
      fixes: fixes)
    expectNoProblem("@Model struct Person { @Key var a: String?; var b: \(type) }")
  }

  @Test(
    "A type without text is rejected with @TextIndexed",
    arguments: ["Int", "Date?", "[Bool]", "Data", "Double", "Foundation.URL"])
  func textTypes(type: String) {
    expectProblem(
      "@Model struct Person { →@TextIndexed var a: \(type) }",
      "'a' has type '\(type)', which contains no text to index; use '@Indexed' or remove '@TextIndexed'",
      fixes: [
        "remove '@TextIndexed'": "@Model struct Person { var a: \(type) }",
        "replace '@TextIndexed' with '@Indexed'":
          "@Model struct Person { @Indexed var a: \(type) }",
      ])
    expectNoProblem("@Model struct Person { @TextIndexed var a: [String]?; var b: \(type) }")
  }

  @Test("A field name must be a nonempty string literal without interpolation")
  func badNames() {
    expectProblem(
      "@Model struct Person { →@Field(\"\") var a: Int }", "a field name cannot be empty")
    expectProblem(
      "@Model struct Person { →@Field(renamedFrom: \"\") var a: Int }",
      "a field name cannot be empty",
      fixes: ["remove '@Field'": "@Model struct Person { var a: Int }"])
    let message = "a field name must be a string literal without interpolations"
    expectProblem("@Model struct Person { @Field(→\"a\\(b)\") var a: Int }", message)
    expectProblem("@Model struct Person { @Field(→name) var a: Int }", message)
    expectProblem("@Model struct Person { @Field(→renamedFrom: name) var a: Int }", message)
    expectNoProblem("@Model struct Person { @Field(nil, renamedFrom: #\"a\\b\"#) var a: Int }")
  }

  @Test("A model has at most one key, and the key has no separate index")
  func keys() {
    expectProblem(
      "@Model struct Person { @Key var a: Int; →@Key var b: Int }",
      "'a' is already the key; a model has only one '@Key'",
      fixes: ["remove '@Key'": "@Model struct Person { @Key var a: Int; var b: Int }"])
    for mark in ["Indexed", "Unique"] {
      expectProblem(
        "@Model struct Person { @Key →@\(mark) var a: Int }",
        "a key is always unique and indexed; remove '@\(mark)'",
        fixes: ["remove '@\(mark)'": "@Model struct Person { @Key var a: Int }"])
    }
  }

  @Test("A unique property is already indexed")
  func unique() {
    expectProblem(
      "@Model struct Person { →@Indexed @Unique var a: Int }",
      "'@Unique' already creates an index; remove '@Indexed'",
      fixes: ["remove '@Indexed'": "@Model struct Person { @Unique var a: Int }"])
  }

  @Test(
    "A dictionary can have neither an index nor a key",
    arguments: ["[String: Int]", "[String: Int]?", "Dictionary<String, Int>"])
  func dictionaries(type: String) {
    for mark in ["Indexed", "Unique", "Key", "TextIndexed"] {
      expectProblem(
        "@Model struct Person { →@\(mark) var a: \(type) }",
        "'@\(mark)' cannot be applied to 'a', because it is a dictionary",
        fixes: ["remove '@\(mark)'": "@Model struct Person { var a: \(type) }"])
    }
  }

  @Test("An attribute can appear only once")
  func twice() {
    expectProblem(
      "@Model struct Person { @Indexed →@Indexed var a: Int }", "duplicate '@Indexed'; remove one",
      fixes: ["remove '@Indexed'": "@Model struct Person { @Indexed var a: Int }"])
    expectProblem(
      "@Model struct Person { @Field(\"x\") →@Field(\"y\") var a: Int }",
      "duplicate '@Field'; remove one",
      fixes: ["remove '@Field'": "@Model struct Person { @Field(\"x\") var a: Int }"])
  }

  @Test("A field name can apply to only one property")
  func several() {
    expectProblem(
      "@Model struct Person { →@Field(\"x\") var a: Int, b: Int }",
      // The compiler's wording.
      "peer macro can only be applied to a single variable",
      "'@Field' applies to a single property; declare each property separately",
      "field name 'x' is already used by 'a'; choose a different name with '@Field'")
  }

  @Test("Attributes apply only to stored properties")
  func computed() {
    for property in ["static var b = 1", "var b: Int { 1 }", "var b: Int { get { 1 } set {} }"] {
      for mark in ["Field(\"x\")", "Indexed", "Transient"] {
        let name = mark.prefix { $0 != "(" }
        expectProblem(
          "@Model struct Person { var a: Int; →@\(mark) \(property) }",
          "'@\(name)' can only be applied to a stored property",
          fixes: ["remove '@\(name)'": "@Model struct Person { var a: Int; \(property) }"])
      }
    }
    expectNoProblem("@Model struct Person { @Indexed var a: Int { didSet {} willSet {} } }")
  }

  @Test("Attributes require a model")
  func outside() {
    for (source, mended) in [
      ("struct Person { →@Indexed var a: Int }", "struct Person { var a: Int }"),
      ("→@Indexed var a = 1", "var a = 1"),
      (
        "@Model struct P { var a: Int; →@Indexed func f() {} }",
        "@Model struct P { var a: Int; func f() {} }"
      ),
      (
        "@Model struct P { var a: Int; func f() { →@Indexed var b = 1 } }",
        "@Model struct P { var a: Int; func f() { var b = 1 } }"
      ),
    ] {
      expectProblem(
        source, "'@Indexed' can only be applied to a stored property of a '@Model' type",
        fixes: ["remove '@Indexed'": mended])
    }
  }

  @Test(
    "An id that is not the key is a warning with a fix-it",
    arguments: [
      ("id: UUID", "id: UUID"), ("id = UUID()", "id = UUID()"), ("id: String?", "id: String?"),
    ])
  func plainID(written: String, kept: String) {
    expectProblem(
      "@Model struct Person { →var \(written) }",
      "'id' is a regular field, so saving a value twice creates two documents; mark it with '@Key' to make it the key, or with '@Field' to silence this warning",
      fixes: ["add '@Key'": "@Model struct Person { @Key var \(kept) }"])
  }

  @Test(
    "An id that is the key, is marked as a field, or has a different type is not a problem",
    arguments: [
      "@Model struct Person: Identifiable { var id = UUID() }",
      "@Model struct Person: Identifiable { @Field var id: UUID }",
      "@Model struct Person { @Field var id: UUID }", "@Model struct Person { @Key var id: UUID }",
      "@Model struct Person { @Key var name: String; var id: UUID }",
      "@Model struct Person { var id: Double }",
    ])
  func otherID(declaration: String) { expectNoProblem(declaration) }

  @Test(
    "The id of an Identifiable type that has a field name is not its key, of which a warning informs"
  )
  func namedID() {
    expectProblem(
      "@Model struct Person: Identifiable { @Field(\"personID\") →var id: String }",
      "'id' is a regular field because of its field name, so saving a value twice creates two documents; mark it with '@Key' to make it the key",
      fixes: [
        "add '@Key'":
          "@Model struct Person: Identifiable { @Key @Field(\"personID\") var id: String }"
      ])
  }
}
