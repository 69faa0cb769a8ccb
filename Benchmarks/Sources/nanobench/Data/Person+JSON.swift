// SPDX-License-Identifier: MIT

import Foundation

extension Person {
  /// The stored form of this person.
  ///
  /// The generated strings need no escapes, so they are inserted directly.
  var storedJSON: String {
    let emails = emails.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"FirstName":"\(firstName)","LastName":"\(lastName)","Age":\(age),"City":"\(city)",\
      "Salary":\(salary),"Emails":[\(emails)],\
      "Address":{"Street":"\(address.street)","Zip":"\(address.zip)",\
      "Country":"\(address.country)"},"Joined":{"$date":"\(joined.nanosecondText)"}}
      """
  }
}

extension Date {
  /// ISO 8601 in UTC with nine fractional digits: `2026-11-20T21:17:00.123456789Z`.
  var nanosecondText: String {
    let whole = timeIntervalSinceReferenceDate.rounded(.down)
    let nanoseconds = Int(((timeIntervalSinceReferenceDate - whole) * 1e9).rounded())
    let seconds = Date(timeIntervalSinceReferenceDate: whole).formatted(.iso8601).dropLast()
    return seconds + String(format: ".%09dZ", nanoseconds)
  }
}
