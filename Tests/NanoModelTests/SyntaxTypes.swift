// SPDX-License-Identifier: MIT

import Foundation
public import NanoStoreModels
import NanoTestSupport
import Testing

/// The kinds of declarations that a model supports. They must also compile without warnings.

@Model public struct SyntaxPublic: Equatable, Sendable {
  public var name: String
  public private(set) var count = 0
  public init(name: String, count: Int = 0) {
    self.name = name
    self.count = count
  }
}

@Model package struct SyntaxPackage: Equatable {
  package var name: String
  package var tags: Set<String> = []
}

@Model private struct SyntaxFileprivate: Equatable {
  var name: String
}

@Model private struct SyntaxPrivate: Equatable {
  private var hidden: String
  init(_ hidden: String) { self.hidden = hidden }
}

@Model private struct SyntaxPrivateParts: Equatable {
  private(set) var shown: String
  fileprivate var some: Int? = 3
}

/// Names in the enclosing type are visible to the model.
enum SyntaxOuter {
  enum Kind: String { case small, large }
  struct Mark: Codable, Equatable { var text: String }
  static let standard = Mark(text: "standard")

  @Model struct Inner: Equatable {
    var kind: Kind
    var other: Kind?
    var mark: Mark = standard
    var inmost: Inmost?

    @Model struct Inmost: Equatable {
      @Indexed var kind: Kind = .small
      var marks: [Mark] = [standard]
    }
  }

  @Model final class Object {
    var kind: Kind
    var mark: Mark = standard
    init(kind: Kind) { self.kind = kind }
  }

  @Model struct WithInit: Equatable {
    var kind: Kind
    let mark: Mark
    init(kind: Kind) {
      self.kind = kind
      mark = SyntaxOuter.standard
    }
  }
}

/// A default names a type beside the model.
enum SyntaxShop {
  struct Money: Codable, Equatable {
    var cents: Int
    init(_ cents: Int) { self.cents = cents }
  }

  @Model struct Order: Equatable {
    var total: Money = Money(0)
  }
}

public enum SyntaxSpace {}
extension SyntaxSpace {
  @Model public struct InExtension: Equatable {
    public var name: String
  }
}
extension SyntaxSpace {
  @Model public struct InPublicExtension: Equatable {
    var name: String
  }
}

@Model struct SyntaxBox<Value: FieldCodable & Equatable>: Equatable {
  var value: Value
  var others: [Value] = []
  var none: Value?
}

@Model struct SyntaxPair<A, B>: Equatable
where A: FieldCodable & Equatable, B: FieldCodable & Equatable {
  @Key var id: String
  var first: A
  var second: B
}

@Model final class SyntaxObject {
  var name: String
  var changes = 0
  @Transient var didChange = false
  init(name: String) { self.name = name }
}

/// A class with the initializer that the compiler would synthesize.
@Model final class SyntaxDefaults {
  var name = "nobody"
  @Relationship var next: SyntaxDefaults?

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

/// Tests the private types in the file where they are visible.
func checkHiddenTypes() throws {
  let values = try anyStore()
  try values[SyntaxFileprivate.self].insert(SyntaxFileprivate(name: "a"))
  #expect(try values[SyntaxFileprivate.self].fetch() == [SyntaxFileprivate(name: "a")])
  try values[SyntaxPrivate.self].insert(SyntaxPrivate("b"))
  #expect(try values[SyntaxPrivate.self].fetch() == [SyntaxPrivate("b")])
  try values[SyntaxPrivateParts.self].insert(SyntaxPrivateParts(shown: "c", some: nil))
  #expect(
    try values[SyntaxPrivateParts.self].fetch() == [SyntaxPrivateParts(shown: "c", some: nil)])
}
