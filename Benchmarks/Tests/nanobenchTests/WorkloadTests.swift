// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import BenchmarkKit
@testable import nanobench

@Suite struct WorkloadTests {
  @Test("A stored body decodes to the person from which it was created")
  func bodyRoundTrip() throws {
    let person = Person(number: 7)

    let object = try JSONSerialization.jsonObject(with: Data(person.storedJSON.utf8))

    let fields = try #require(object as? [String: Any])
    #expect(fields["LastName"] as? String == person.lastName)
    #expect(fields["Salary"] as? Double == person.salary)
    #expect(fields["Emails"] as? [String] == person.emails)
    #expect((fields["Address"] as? [String: String])?["Street"] == person.address.street)
  }

  @Test("Bodies have about 250 bytes")
  func bodySize() {
    let stored = StoredDocuments((0..<1000).map { Person(number: $0).storedJSON })

    let mean = (0..<stored.count).map { stored.body($0).count }.reduce(0, +) / stored.count

    #expect((245...265).contains(mean))
  }

  @Test("The person with a given number is always the same")
  func deterministic() {
    #expect(
      Person(number: 1).storedJSON == """
        {"FirstName":"Guillem","LastName":"Guquines","Age":59,"City":"Martorhal",\
        "Salary":70616.62,"Emails":["guquines624@a.example","guquines@b.example"],\
        "Address":{"Street":"Viulin 126","Zip":"43918","Country":"JP"},\
        "Joined":{"$date":"2004-03-11T09:34:20.040999994Z"}}
        """)
  }

  @Test("The thousand last names are distinct")
  func lastNames() {
    #expect(Set(Names.last).count == 1000)
  }

  @Test("Keys ascend with their numbers")
  func keysAscend() {
    let keys = (0..<200).map { UUID(version7: $0).uuidString }

    #expect(keys == keys.sorted())
    #expect(keys[0].dropFirst(14).first == "7")
  }

  @Test("A date is written in UTC with nine digits")
  func nanosecondText() {
    let date = Date(timeIntervalSince1970: 1_795_209_420.125)

    #expect(date.nanosecondText == "2026-11-20T21:17:00.125000000Z")
  }
}
