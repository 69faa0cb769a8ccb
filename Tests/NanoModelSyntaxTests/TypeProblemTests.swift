// SPDX-License-Identifier: MIT

import Testing

@Suite("Diagnostics for model types")
struct TypeProblemTests {
  @Test(
    "Only structs and final classes can be models",
    arguments: [
      "actor Person { var name = \"\" }", "protocol Named {}",
      "extension Person { var a: Int { 1 } }",
    ])
  func kind(declaration: String) {
    expectProblem(
      "→@Model \(declaration)", "'@Model' can only be applied to a struct or a final class",
      fixes: ["remove '@Model'": declaration])
  }

  @Test("An enum cannot be a model, and does not need to be one to be stored")
  func enumeration() {
    expectProblem(
      "→@Model enum Kind { case a }",
      "'@Model' can only be applied to a struct or a final class; to store an enum in a property, give it a raw value or conform it to 'Codable'",
      fixes: ["remove '@Model'": "enum Kind { case a }"])
  }

  @Test("A class without an initializer is reported at its declaration, with a fix-it")
  func initializer() {
    expectProblem(
      """
      @Model final class →Song {
        var title: String
        var year: Int?
        @Relationship var albums: [Album]
      }
      """,
      "class 'Song' has no initializers, and 'title' has no initial value; add an initializer or an initial value",
      fixes: [
        "add an initializer": """
        @Model final class Song {
          var title: String
          var year: Int?
          @Relationship var albums: [Album]

          init(title: String, albums: [Album]) {
            self.title = title
            self.albums = albums
          }
        }
        """
      ])
    expectProblem(
      "@Model public final class →Song { var title: String }",
      "class 'Song' has no initializers, and 'title' has no initial value; add an initializer or an initial value",
      fixes: [
        "add an initializer": """
        @Model public final class Song { var title: String

          public init(title: String) {
            self.title = title
          }
        }
        """
      ])
    expectNoProblem("@Model final class Song { var title: String?; @Inverse var albums: [Album] }")
    expectNoProblem("@Model final class Song { var title: String; init() { title = \"\" } }")
  }

  @Test("A class must be final, and a fix-it makes it so")
  func final() {
    expectProblem(
      """
      @Model
      →class Person {
        var name = ""
      }
      """, "a '@Model' class must be final",
      fixes: [
        "add 'final'": """
        @Model
        final class Person {
          var name = ""
        }
        """
      ])
    expectProblem(
      "@Model public →class Person { var name = \"\" }",
      "a '@Model' class must be final",
      fixes: ["add 'final'": "@Model public final class Person { var name = \"\" }"])
    expectProblem(
      "@Model open →class Person { var name = \"\" }",
      "a '@Model' class must be final",
      fixes: ["add 'final'": "@Model public final class Person { var name = \"\" }"])
  }

  @Test("A model must have a stored property")
  func empty() {
    expectProblem(
      "→@Model struct Person {}", "'Person' has no stored properties to save; add at least one")
    expectProblem(
      """
      →@Model struct Person {
        static let a = 1
        var b: Int { 2 }
        @Transient var c = 3
      }
      """, "'Person' has no stored properties to save; add at least one")
  }

  @Test("The version must be a literal of at least 1")
  func version() {
    let message = "'version' must be an integer literal of at least 1"
    for version in ["0", "-1", "current", "1.5", "0x2", "99999999999999999999"] {
      expectProblem("@Model(→version: \(version)) struct Person { var a: Int }", message)
    }
    expectNoProblem("@Model(version: 1_000) struct Person { var a: Int }")
  }

  @Test("The collection must be a string literal")
  func collection() {
    expectProblem(
      "@Model(→collection: \"a\\(b)\") struct Person { var a: Int }",
      "'collection' must be a string literal without interpolations")
    expectProblem(
      "@Model(→collection: name) struct Person { var a: Int }",
      "'collection' must be a string literal without interpolations")
    expectProblem(
      "@Model(→collection: \"\") struct Person { var a: Int }",
      "the collection name cannot be empty")
    expectNoProblem("@Model(collection: nil) struct Person { var a: Int }")
  }

  @Test("A model cannot be declared inside a function")
  func local() {
    let message = "a '@Model' type cannot be local; declare it outside the function"
    expectProblem("func f() { →@Model struct Person { var a: Int } }", message)
    expectProblem("let f = { →@Model struct Person { var a: Int } }", message)
    expectProblem("struct S { init() { →@Model struct Person { var a: Int } } }", message)
    expectNoProblem("enum Space { @Model struct Person { var a: Int } }")
  }

  @Test("A model in a private type has the visibility of that type")
  func inPrivateType() {
    let expanded = Diagnosis(
      "private enum Space { @Model final class Person { var a = 1 } }"
    ).expanded
    #expect(expanded.contains("fileprivate static var modelFields"))
  }

  @Test("A model cannot be isolated to a global actor")
  func actor() {
    expectProblem(
      "@Model →@MainActor final class Person { var a = 1 }",
      "a '@Model' type cannot be isolated to an actor, because it is read and written on any thread",
      fixes: ["remove '@MainActor'": "@Model final class Person { var a = 1 }"])
  }

  @Test("A declaration with a generated name is rejected")
  func names() {
    expectProblem(
      "@Model struct Person { var a: Int; static let →collectionName = \"people\" }",
      "'collectionName' is generated by '@Model'; use '@Model(collection:)' to set it")
    expectProblem(
      "@Model struct Person { var a: Int; static var →modelVersion: Int { 2 } }",
      "'modelVersion' is generated by '@Model'; use '@Model(version:)' to set it")
    expectProblem(
      "@Model struct Person { var a: Int; enum →modelFields {} }",
      "'modelFields' is generated by '@Model'; choose a different name")
    expectProblem(
      "@Model struct Person { var →documentKey: String }",
      "'documentKey' is a member of 'Model'; rename the property, and add '@Field(\"documentKey\")' to keep the field name"
    )
    expectProblem(
      "@Model struct Person { var →unknownFields: [String] = [] }",
      "'unknownFields' is a member of 'Model'; rename the property, and add '@Field(\"unknownFields\")' to keep the field name"
    )
    expectProblem(
      "@Model struct Person { var a: Int; var →_$read: Int { 1 } }",
      "names that begin with '_$' are reserved for code generated by '@Model'; choose a different name"
    )
    expectProblem(
      "@Model struct Person { var a: Int; struct →_$write {} }",
      "names that begin with '_$' are reserved for code generated by '@Model'; choose a different name"
    )
    for name in ["self", "Type", "Protocol"] {
      expectProblem(
        "@Model struct Person { var a: Int; var →`\(name)` = 1 }",
        "a property named '\(name)' cannot be used in a key path; rename it, and add '@Field(\"\(name)\")' to keep the field name"
      )
    }
    expectNoProblem("@Model struct Person { var collectionName: String; var modelVersion = 1 }")
  }

  @Test("A stored property or initializer in '#if' is rejected; other members are permitted")
  func conditional() {
    expectProblem(
      """
      @Model struct Person {
        var a: Int
        #if DEBUG
          →var b = 1
          #if os(Linux)
            →let c: Int
          #endif
        #else
          →init() {}
        #endif
      }
      """, "a stored property of a '@Model' type cannot be inside '#if'; move it out",
      "a stored property of a '@Model' type cannot be inside '#if'; move it out",
      "an initializer of a '@Model' type cannot be inside '#if'; move it to an extension")
    expectNoProblem(
      """
      @Model struct Person {
        var a: Int
        #if DEBUG
          var b: Int { 1 }
          static var c = 2
          func d() {}
        #endif
      }
      """)
  }
}
