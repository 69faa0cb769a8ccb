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
      """, "a '\(modifier)' property is not stored",
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
      ".good", "-x",
    ])
  func annotation(value: String) {
    expectProblem(
      "@Model struct Person { var →a = \(value) }", "'a' needs a type annotation",
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
      "declare each property of a '@Model' on its own")
  }

  @Test("A constant with a value is rejected because it cannot be decoded")
  func constant() {
    expectProblem(
      """
      @Model struct Person {
        →let a: Int = 5  // five
      }
      """, "a constant with a value cannot be read from a document",
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
      ("any Named", "of any type of a kind"), ("(any Named)?", "of any type of a kind"),
      ("Int.Type", "a type"), ("A & B", "of any type of a kind"), ("Void", nil), ("(Int)", nil),
    ] as [(String, String?)])
  func kinds(type: String, kind: String?) {
    guard let kind else { return expectNoProblem("@Model struct Person { var a: \(type) }") }
    expectProblem(
      "@Model struct Person { var a: →\(type) }", "'a' is \(kind), which no document can hold",
      fixes: ["add '@Transient'": "@Model struct Person { @Transient var a: \(type) }"])
  }

  @Test("A transient property needs a default value")
  func transientValue() {
    expectProblem(
      "@Model struct Person { var a: Int; @Transient var →b: Int }",
      "'b' is not stored and needs a value to have after reading")
    expectProblem(
      "@Model struct Person { var a: Int; @Transient let →b: Int? }",
      "'b' is not stored and needs a value to have after reading")
    expectNoProblem("@Model struct Person { var a: Int; @Transient var b: Int? }")
  }

  @Test(
    "A transient property cannot have other attributes",
    arguments: ["Field(\"x\")", "Indexed", "Unique", "Key"])
  func transientMarks(mark: String) {
    let name = mark.prefix { $0 != "(" }
    expectProblem(
      "@Model struct Person { var a: Int; @Transient →@\(mark) var b = 1 }",
      "a property that is not stored has no '@\(name)'",
      fixes: ["remove '@\(name)'": "@Model struct Person { var a: Int; @Transient var b = 1 }"])
  }

  @Test("Field names are unique, including former names and the key")
  func sameNames() {
    expectProblem(
      "@Model struct Person { var a: Int; →@Field(\"a\") var b: Int }",
      "the field 'a' belongs to 'a' already")
    expectProblem(
      "@Model struct Person { @Field(\"b\") var a: Int; var →b: Int }",
      "the field 'b' belongs to 'a' already")
    expectProblem(
      "@Model struct Person { @Key var a: Int; →@Field(\"a\") var b: Int }",
      "the field 'a' belongs to 'a' already")
    expectNoProblem("@Model struct Person { @Field(\"b\") var a: Int; @Field(\"a\") var b: Int }")
  }

  @Test("A former name must be unused and belong to one property")
  func formerNames() {
    expectProblem(
      "@Model struct Person { var a: Int; →@Field(renamedFrom: \"x\", \"a\") var b: Int }",
      "'b' cannot be renamed from 'a', which is the field of 'a'",
      fixes: [
        "remove 'a'": "@Model struct Person { var a: Int; @Field(renamedFrom: \"x\") var b: Int }"
      ])
    expectProblem(
      "@Model struct Person { →@Field(renamedFrom: \"a\") var a: Int }",
      "'a' has the field name 'a' now; 'renamedFrom' takes names that older documents have",
      fixes: ["remove '@Field'": "@Model struct Person { var a: Int }"])
    expectProblem(
      "@Model struct Person { →@Field(\"b\", renamedFrom: \"b\", \"c\") var a: Int }",
      "'a' has the field name 'b' now; 'renamedFrom' takes names that older documents have",
      fixes: [
        "remove 'b'": "@Model struct Person { @Field(\"b\", renamedFrom: \"c\") var a: Int }"
      ])
    expectProblem(
      "@Model struct Person { →@Field(renamedFrom: \"x\", \"x\") var a: Int }",
      "'x' is listed twice as a former name of 'a'",
      fixes: ["remove 'x'": "@Model struct Person { @Field(renamedFrom: \"x\") var a: Int }"])
    expectProblem(
      "@Model struct Person { @Field(renamedFrom: \"x\") var a: Int; →@Field(renamedFrom: \"x\") var b: Int }",
      "'x' is a former name of 'a' already",
      fixes: [
        "remove '@Field'":
          "@Model struct Person { @Field(renamedFrom: \"x\") var a: Int; var b: Int }"
      ])
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
      "'a' has type '\(type)', which cannot be a key; a key is a 'String', 'UUID', 'Int', 'Int64' or a type that conforms to 'ModelKey'",
      fixes: fixes)
    expectNoProblem("@Model struct Person { @Key var a: String?; var b: \(type) }")
  }

  @Test(
    "A type without text is rejected with @TextIndexed",
    arguments: ["Int", "Date?", "[Bool]", "Data", "Double", "Foundation.URL"])
  func textTypes(type: String) {
    expectProblem(
      "@Model struct Person { →@TextIndexed var a: \(type) }",
      "'a' has type '\(type)', which has no text to index",
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
      "@Model struct Person { →@Field(\"\") var a: Int }", "the name of a field is empty")
    expectProblem(
      "@Model struct Person { →@Field(renamedFrom: \"\") var a: Int }",
      "the name of a field is empty",
      fixes: ["remove '@Field'": "@Model struct Person { var a: Int }"])
    let message = "a field's name is a string without interpolations"
    expectProblem("@Model struct Person { @Field(→\"a\\(b)\") var a: Int }", message)
    expectProblem("@Model struct Person { @Field(→name) var a: Int }", message)
    expectProblem("@Model struct Person { @Field(→renamedFrom: name) var a: Int }", message)
    expectNoProblem("@Model struct Person { @Field(nil, renamedFrom: #\"a\\b\"#) var a: Int }")
  }

  @Test("A model has at most one key, and the key has no separate index")
  func keys() {
    expectProblem(
      "@Model struct Person { @Key var a: Int; →@Key var b: Int }", "'a' is the key already",
      fixes: ["remove '@Key'": "@Model struct Person { @Key var a: Int; var b: Int }"])
    for mark in ["Indexed", "Unique"] {
      expectProblem(
        "@Model struct Person { @Key →@\(mark) var a: Int }",
        "a key is unique and found quickly without '@\(mark)'",
        fixes: ["remove '@\(mark)'": "@Model struct Person { @Key var a: Int }"])
    }
  }

  @Test("A unique property is already indexed")
  func unique() {
    expectProblem(
      "@Model struct Person { →@Indexed @Unique var a: Int }", "'@Unique' makes an index already",
      fixes: ["remove '@Indexed'": "@Model struct Person { @Unique var a: Int }"])
  }

  @Test(
    "A dictionary can have neither an index nor a key",
    arguments: ["[String: Int]", "[String: Int]?", "Dictionary<String, Int>"])
  func dictionaries(type: String) {
    for mark in ["Indexed", "Unique", "Key", "TextIndexed"] {
      expectProblem(
        "@Model struct Person { →@\(mark) var a: \(type) }",
        "'a' is a dictionary, which has no '@\(mark)'",
        fixes: ["remove '@\(mark)'": "@Model struct Person { var a: \(type) }"])
    }
  }

  @Test("An attribute can appear only once")
  func twice() {
    expectProblem(
      "@Model struct Person { @Indexed →@Indexed var a: Int }", "'@Indexed' stands here twice",
      fixes: ["remove '@Indexed'": "@Model struct Person { @Indexed var a: Int }"])
    expectProblem(
      "@Model struct Person { @Field(\"x\") →@Field(\"y\") var a: Int }",
      "'@Field' stands here twice",
      fixes: ["remove '@Field'": "@Model struct Person { @Field(\"x\") var a: Int }"])
  }

  @Test("A field name can apply to only one property")
  func several() {
    expectProblem(
      "@Model struct Person { →@Field(\"x\") var a: Int, b: Int }",
      // The compiler's wording.
      "peer macro can only be applied to a single variable",
      "'@Field' belongs to one property; declare each on its own",
      "the field 'x' belongs to 'a' already")
  }

  @Test("Attributes apply only to stored properties")
  func computed() {
    for property in ["static var b = 1", "var b: Int { 1 }", "var b: Int { get { 1 } set {} }"] {
      for mark in ["Field(\"x\")", "Indexed", "Transient"] {
        let name = mark.prefix { $0 != "(" }
        expectProblem(
          "@Model struct Person { var a: Int; →@\(mark) \(property) }",
          "'@\(name)' belongs to a stored property",
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
        source, "'@Indexed' belongs to a stored property of a '@Model'",
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
      "'id' is a field like others, and saving a value twice makes two documents; mark it with '@Key', or with '@Field' if that is meant",
      fixes: ["add '@Key'": "@Model struct Person { @Key var \(kept) }"])
  }

  @Test(
    "An id that is the key, is marked as a field, or has a different type is not a problem",
    arguments: [
      "@Model struct Person: Identifiable { var id = UUID() }",
      "@Model struct Person { @Field var id: UUID }", "@Model struct Person { @Key var id: UUID }",
      "@Model struct Person { @Key var name: String; var id: UUID }",
      "@Model struct Person { var id: Double }",
    ])
  func otherID(declaration: String) { expectNoProblem(declaration) }
}
