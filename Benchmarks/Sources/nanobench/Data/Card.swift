// SPDX-License-Identifier: MIT

import NanoStore

/// The document of the scenarios with a wildcard index. It has the shape of that in NanoStore's own benchmark: six
/// fields and an array of two elements, eight scalar values.
struct Card: Sendable {
  let person: Person

  var object: DocumentObject {
    [
      "FirstName": .string(person.firstName), "LastName": .string(person.lastName),
      "Age": .int(Int64(person.age)), "City": .string(person.city),
      "Salary": .double(person.salary), "Zip": .string(person.address.zip),
      "Emails": .array(person.emails.map { .string($0) }),
    ]
  }

  /// The stored form of the document.
  var storedJSON: String {
    let emails = person.emails.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"FirstName":"\(person.firstName)","LastName":"\(person.lastName)","Age":\(person.age),\
      "City":"\(person.city)","Salary":\(person.salary),"Zip":"\(person.address.zip)",\
      "Emails":[\(emails)]}
      """
  }

  /// A scalar value for raw SQLite: the number of its attribute, and a number or a string.
  struct Leaf {
    var attribute: Int
    var number: Double?
    var text: [UInt8] = []
  }

  var leaves: [Leaf] {
    object.enumerated().flatMap { place, field in
      (field.value.array ?? [field.value]).map { value in
        Leaf(attribute: place, number: value.double, text: Array((value.string ?? "").utf8))
      }
    }
  }
}
