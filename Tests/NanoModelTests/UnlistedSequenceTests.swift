// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

private struct Circle: Codable, Equatable, Sendable {
  var radius = 1
}

@Model private struct Drawing {
  @Key var id: String
  var bytes = Data()
  var pages = IndexSet()
  var circles: [UUID: Circle] = [:]
  var named: [String: Circle] = [:]
  var numbered: [Int: Circle] = [:]
  var marks: [Int?] = []
}

@Suite("Predicates on sequences and dictionaries that are not stored as lists and objects")
struct UnlistedSequenceTests {
  private let drawings: ModelCollection<Drawing>
  private let id = UUID()

  init() throws {
    drawings = try anyStore()[Drawing.self]
    var drawing = Drawing(id: "a")
    drawing.bytes = Data([3, 4])
    drawing.pages = [3, 5]
    drawing.circles = [id: Circle()]
    drawing.named = ["x": Circle(radius: 2)]
    drawing.numbered = [7: Circle()]
    drawing.marks = [nil]
    try drawings.insert(drawing)
  }

  @Test("A predicate whose result would differ is rejected")
  func rejected() throws {
    let id = id
    let predicates: [Predicate<Drawing>] = [
      #Predicate { $0.bytes.contains(3) }, #Predicate { !$0.bytes.contains(3) },
      #Predicate { $0.bytes.allSatisfy { $0 > 3 } },
      #Predicate { $0.bytes.contains { $0 > 3 } },
      #Predicate { $0.bytes.filter { $0 > 3 }.isEmpty },
      #Predicate { $0.pages.contains(3) }, #Predicate { $0.pages.allSatisfy { $0 > 3 } },
      #Predicate { $0.circles[id] != nil }, #Predicate { $0.circles[id] == nil },
      #Predicate { $0.marks.first == nil },
    ]
    for predicate in predicates {
      let error = #expect(throws: StoreError.self) { try drawings.find(predicate).count() }
      #expect(error?.code == .unsupported)
    }
  }

  @Test("A dictionary with keys that are text or integers is searched by its keys")
  func dictionaries() throws {
    #expect(try drawings.find(#Predicate { $0.named["x"] != nil }).count() == 1)
    #expect(try drawings.find(#Predicate { $0.named["y"] == nil }).count() == 1)
    #expect(try drawings.find(#Predicate { $0.numbered[7] != nil }).count() == 1)
  }
}
