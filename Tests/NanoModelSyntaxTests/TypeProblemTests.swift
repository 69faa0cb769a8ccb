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
      "→@Model \(declaration)", "'@Model' belongs to a struct or a final class",
      fixes: ["remove '@Model'": declaration])
  }

  @Test("An enum cannot be a model, and does not need to be one to be stored")
  func enumeration() {
    expectProblem(
      "→@Model enum Kind { case a }",
      "'@Model' belongs to a struct or a final class; an enum needs none to be the type of a property, only a raw value or Codable",
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
      """, "class 'Song' has no initializer, and 'title' has no initial value; add either",
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
      "class 'Song' has no initializer, and 'title' has no initial value; add either",
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
      """, "a class that is a '@Model' has to be final",
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
      "a class that is a '@Model' has to be final",
      fixes: ["add 'final'": "@Model public final class Person { var name = \"\" }"])
    expectProblem(
      "@Model open →class Person { var name = \"\" }",
      "a class that is a '@Model' has to be final",
      fixes: ["add 'final'": "@Model public final class Person { var name = \"\" }"])
  }

  @Test("A model must have a stored property")
  func empty() {
    expectProblem(
      "→@Model struct Person {}", "'Person' has no stored properties that a document could hold")
    expectProblem(
      """
      →@Model struct Person {
        static let a = 1
        var b: Int { 2 }
        @Transient var c = 3
      }
      """, "'Person' has no stored properties that a document could hold")
  }

  @Test("The version must be a literal of at least 1")
  func version() {
    let message = "the version is an integer literal, 1 or greater"
    for version in ["0", "-1", "current", "1.5", "0x2", "99999999999999999999"] {
      expectProblem("@Model(→version: \(version)) struct Person { var a: Int }", message)
    }
    expectNoProblem("@Model(version: 1_000) struct Person { var a: Int }")
  }

  @Test("The collection must be a string literal")
  func collection() {
    expectProblem(
      "@Model(→collection: \"a\\(b)\") struct Person { var a: Int }",
      "the collection is a string without interpolations")
    expectProblem(
      "@Model(→collection: name) struct Person { var a: Int }",
      "the collection is a string without interpolations")
    expectProblem(
      "@Model(→collection: \"\") struct Person { var a: Int }",
      "the name of the collection is empty")
    expectNoProblem("@Model(collection: nil) struct Person { var a: Int }")
  }

  @Test("A model cannot be declared inside a function")
  func local() {
    let message = "a '@Model' cannot stand in a function; declare it outside"
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
      "a '@Model' is read and written on any thread and cannot belong to an actor",
      fixes: ["remove '@MainActor'": "@Model final class Person { var a = 1 }"])
  }

  @Test("A declaration with a generated name is rejected")
  func names() {
    expectProblem(
      "@Model struct Person { var a: Int; static let →collectionName = \"people\" }",
      "'collectionName' is written by '@Model'; '@Model(collection:)' says it")
    expectProblem(
      "@Model struct Person { var a: Int; static var →modelVersion: Int { 2 } }",
      "'modelVersion' is written by '@Model'; '@Model(version:)' says it")
    expectProblem(
      "@Model struct Person { var a: Int; enum →modelFields {} }",
      "'modelFields' is written by '@Model'; the properties say it")
    expectProblem(
      "@Model struct Person { var →documentKey: String }",
      "'documentKey' belongs to 'Model'; give the property another name, and '@Field(\"documentKey\")'"
    )
    expectProblem(
      "@Model struct Person { var →unknownFields: [String] = [] }",
      "'unknownFields' belongs to 'Model'; give the property another name, and '@Field(\"unknownFields\")'"
    )
    expectProblem(
      "@Model struct Person { var a: Int; var →_$read: Int { 1 } }",
      "names that begin with '_$' belong to what '@Model' writes")
    expectProblem(
      "@Model struct Person { var a: Int; struct →_$write {} }",
      "names that begin with '_$' belong to what '@Model' writes")
    for name in ["self", "Type"] {
      expectProblem(
        "@Model struct Person { var a: Int; var →`\(name)` = 1 }",
        "no key path leads to a property named '\(name)'; give it another name, and '@Field(\"\(name)\")'"
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
      """, "a stored property of a '@Model' cannot stand in '#if'",
      "a stored property of a '@Model' cannot stand in '#if'",
      "an initializer of a '@Model' in '#if' belongs in an extension")
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
