// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

/// The kinds of properties that a model supports.

@Model struct SyntaxOne: Equatable {
  var only: Int
}

/// A document may have none of its fields.
@Model struct SyntaxOptionals: Equatable {
  var first: String?
  var second: Int?
  var third: [Double]?
  var fourth: SyntaxOne?
}

@Model struct SyntaxNumbers: Equatable {
  var int: Int
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int64: Int64
  var int128: Int128
  var uint: UInt
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint64: UInt64
  var uint128: UInt128
  var float: Float
  var double: Double
  var decimal: Decimal
}

enum SyntaxSuit: String, FieldCodable, FieldNameConvertible, Codable, CaseIterable {
  case clubs, diamonds, hearts
}
/// Conforms neither to FieldCodable nor to Codable.
enum SyntaxPlain: Int, CaseIterable {
  case one = 1
  case two
}
enum SyntaxCodable: String, Codable, CaseIterable { case left, right }
enum SyntaxPayload: Codable, Hashable {
  case empty
  case text(String)
  case pair(left: Int, right: [SyntaxCodable])
}
struct SyntaxStruct: Codable, Hashable {
  var name: String
  var when: Date?
  var more: [SyntaxStruct] = []
}
struct SyntaxID: RawRepresentable, ModelKey, Hashable { var rawValue: String }
typealias SyntaxMaybe = Int?
typealias SyntaxMaybePayload = SyntaxPayload?

@Model struct SyntaxKinds: Equatable {
  @Key var id: SyntaxID?
  var suit: SyntaxSuit
  var plain: SyntaxPlain = .two
  var coded: SyntaxCodable
  var payload: SyntaxPayload
  var part: SyntaxStruct
  var maybe: SyntaxMaybe
  var maybePayload: SyntaxMaybePayload
  var suits: [SyntaxSuit] = []
  var codedList: [SyntaxCodable] = []
  var texts: Set<String> = []
  var byText: [String: Int] = [:]
  var byNumber: [Int: Date] = [:]
  var byID: [UUID: Bool] = [:]
  var bySuit: [SyntaxSuit: [Double]] = [:]
  var free: DocumentValue = .null
  var object: DocumentObject = [:]
  var url: URL?
  var data = Data()
  var optionalSuit: SyntaxSuit?
  var optionalPlain: SyntaxPlain?
  var optionalPayload: SyntaxPayload?
  var optionalTexts: Set<String>?
  var optionalByID: [UUID: Bool]?
  var optionalModels: [SyntaxOne]?
  var optionalObject: DocumentObject?
  var models: [SyntaxOne] = []
  var byName: [String: SyntaxOne] = [:]
  var matrix: [[Int]] = []
  var holes: [Int?] = []
}

/// Defaults of types that accept null, and of one that does not.
@Model struct SyntaxNullable: Equatable {
  var maybe: SyntaxMaybe = 5
  var maybePayload: SyntaxMaybePayload = .empty
  var free: DocumentValue = [:]
  var suit: SyntaxSuit = .clubs
}

/// Constant defaults in several spellings.
@Model struct SyntaxConstants: Equatable {
  var suit: SyntaxSuit = SyntaxSuit.hearts
  var limits: [String: Int] = ["a": 1, "b": 2]
  var list = [String]()
  var texts = Set<String>()
  var counts = [String: Int]()
}

@Model struct SyntaxSpellings: Equatable {
  var a: Optional<Int>
  var b: Swift.Optional<String>
  var c: Int!
  var d: Int??
  var e: (Int)
  var f: (Int?)
  var g: Swift.String
  var h, i: Double
  var j = 1, k = "k"
  var l: Int? = 5
  var m = ["a", "b"]
  var n = -1.5
  var o = [String: Int]()
  var p: [String: Int?] = [:]
}

@Model struct SyntaxNames: Equatable {
  @Field("$dollar") var dollar: Int
  @Field("$$two") var two: Int
  @Field("a.b") var dot: Int
  @Field("with \"quotes\"") var quotes: Int
  @Field("back\\slash") var backslash: Int
  @Field("tab\tnew\nline") var control: Int
  @Field("Größe") var size: Int
  @Field("👩‍👩‍👧‍👦") var family: Int
  @Field(" ") var space: Int
  // swift-format-ignore: IdentifiersMustBeASCII
  var größer = 0
  var `default`: Int
  var `in` = 0
  var `init`: Int = 1
  var `class` = ""
}

/// The defaults use names that the generated code also uses for local variables.
private let reader = "reader"
private let start = 5
private let key = UUID()
private let value = 1.5
private let f0 = true

private func effect() throws -> Int { throw CancellationError() }

@Model struct SyntaxValueNames: Equatable {
  @Key var id: String?
  var a: String = reader
  var b: Int = start
  var c: UUID = key
  var d: Double = value
  var e: Bool = f0
  var f: Int? = try? effect()
  var g: Int = (try? effect()) ?? 7
  var h: [Int] = { [1, 2].map { $0 * 2 } }()
  var i: Int = Self.standard
  var j: String = "a" + "b"
  var k: String = "\(start)"
  var l: Int = start > 3 ? 1 : 2
  static let standard = 12
}

@propertyWrapper struct SyntaxClamped: Equatable, Sendable {
  private var value: Int
  init(wrappedValue: Int) { value = min(wrappedValue, 10) }
  var wrappedValue: Int {
    get { value }
    set { value = min(newValue, 10) }
  }
}

@Model struct SyntaxWrapped: Equatable {
  @SyntaxClamped var clamped: Int
  @SyntaxClamped var again: Int = 3
  var other = 0
}

@Model struct SyntaxMembers: Equatable {
  var stored: Int { didSet { changes += 1 } }
  @Transient var changes = 0
  @Transient lazy var slow = String(repeating: "a", count: 10)
  @Transient var note: String?
  var doubled: Int { stored * 2 }
  static let constant = 1
  static func == (a: Self, b: Self) -> Bool { a.stored == b.stored }
  func written() -> Int { stored }
}

@Model struct SyntaxNode: Equatable {
  var name: String
  var children: [SyntaxNode] = []
}

@Model struct SyntaxChain: Equatable {
  var name: String
  var next: [SyntaxChain]?
}

@Model final class SyntaxRing {
  var name: String
  @Relationship var next: SyntaxRing?
  init(name: String) { self.name = name }
}

@Model struct SyntaxHolder {
  // With less nesting, the compiler reports that documents cannot store the objects.
  var objects: [[SyntaxRing]] = []
}

@Model struct SyntaxBoth: Codable, Equatable {
  var text: String
  var number: Int?
  var part: SyntaxPart = SyntaxPart(name: "x")
  @Model struct SyntaxPart: Codable, Equatable {
    var name: String
    var list: [Int] = []
  }
}

@Model struct SyntaxForty: Equatable {
  var a0: Int, a1: Int, a2: Int, a3: Int, a4: Int, a5: Int, a6: Int, a7: Int, a8: Int, a9: Int
  var b0 = "0", b1 = "1", b2 = "2", b3 = "3", b4 = "4", b5 = "5", b6 = "6", b7 = "7", b8 = "8"
  var b9 = "9"
  var c0: Double?, c1: Double?, c2: Double?, c3: Double?, c4: Double?, c5: Double?, c6: Double?
  var c7: Double?, c8: Double?, c9: Double?
  var d0: [Int] = [], d1: [Int] = [], d2: [Int] = [], d3: [Int] = [], d4: [Int] = []
  var d5: [Int] = [], d6: [Int] = [], d7: [Int] = [], d8: [Int] = [], d9: [Int] = []
}
