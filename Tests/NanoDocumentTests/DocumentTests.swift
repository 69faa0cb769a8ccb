// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NanoDocument

@Suite("Documents in memory")
struct DocumentTests {
  @Test("After a field that could not be set, a changed copy keeps its other fields and the error")
  func blockedField() throws {
    var ada = try Document(["name": "Ada", "city": "London"])
    ada["name.first"] = "A"
    let copy = ada

    ada["born"] = 1815

    #expect(ada["name"] == "Ada" && ada["city"] == "London" && ada["born"] == 1815)
    #expect(copy["name"] == "Ada" && copy["born"] == nil)
    for document in [ada, copy] {
      let error = #expect(throws: StoreError.self) { try document.object() }
      #expect(error?.code == .typeMismatch)
    }
  }

  @Test("A changed document and its copy do not affect each other")
  func copies() throws {
    var ada = try Document(["name": "Ada"])
    ada["born"] = 1815
    var copy = ada

    copy["born"] = 1816
    ada["city"] = "London"

    #expect(try ada.object() == ["name": "Ada", "born": 1815, "city": "London"])
    #expect(try copy.object() == ["name": "Ada", "born": 1816])
  }

  @Test("Selecting a field with a value that cannot be stored throws")
  func selectingUnstorable() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1e12)
    let document = try Document(["at": .date(date), "n": 1])

    let error = #expect(throws: StoreError.self) { try document.selecting(["at"]) }

    #expect(error?.code == .valueNotStorable)
    #expect(try document.selecting(["n"]).object() == ["n": 1])
  }

  @Test("Selecting a path with an array index keeps that element only")
  func selectingElements() {
    let film: DocumentObject = [
      "cast": [["n": "x", "m": 1], ["n": "y", "m": 2]], "b": ["x", ["y", "z"]], "o": ["0": 1],
    ]
    #expect(film.selecting(["cast.0.n"]) == ["cast": [["n": "x"]]])
    #expect(film.selecting(["cast.1"]) == ["cast": [["n": "y", "m": 2]]])
    #expect(film.selecting(["b.1.0", "o.0"]) == ["b": [["y"]], "o": ["0": 1]])
    #expect(film.selecting(["cast.1.m", "cast.n"]) == ["cast": [["n": "x"], ["n": "y", "m": 2]]])
    #expect(film.selecting(["cast.2.n", "b.9", "o.1"]).isEmpty)

    let named: DocumentObject = ["a": [["0": 1], ["0": 2]]]
    #expect(named.selecting(["a.0"]) == ["a": [["0": 1]]])
    #expect(named.selecting([FieldPath(#"a."0""#)]) == named)
  }

  @Test("A scan reuses storage only where it has room, also after a row of another program")
  func scratchCapacity() {
    var scratch = DocumentScratch()
    let isEmpty = scratch.take(100_000) == nil
    #expect(isEmpty)
    scratch.put(Self.storage(100_000))
    // The storage of a row of another program is made without `take`.
    scratch.put(Self.storage(10))

    let room = scratch.take(80_000)?.capacity

    #expect(room.map { $0 >= 80_000 } ?? true)
  }

  private static func storage(_ count: Int) -> DocumentStorage {
    [UInt8](repeating: 0x20, count: count).withUnsafeBytes {
      DocumentStorage.make(Document.Header(), $0)
    }
  }
}
