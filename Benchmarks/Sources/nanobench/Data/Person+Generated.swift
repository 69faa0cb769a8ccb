// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

extension Person {
  /// Creates the person with the given number, which is always the same.
  init(number: Int) {
    var random = SplitMix(seed: UInt64(number) &* 0x2545_F491_4F6C_DD1D)
    firstName = random.pick(Names.first)
    lastName = random.pick(Names.last)
    age = 18 + random.below(70)
    city = random.pick(Names.cities)
    salary = 10_000 + Double(random.below(12_000_000)) / 100
    let mailbox = lastName.lowercased()
    emails = [
      "\(mailbox)\(random.below(1000))@a.example",
      "\(mailbox)@b.example",
    ]
    address = Address(
      street: "\(random.pick(Names.cities)) \(random.below(500))",
      zip: String(10_000 + random.below(90_000)),
      country: random.pick(Names.countries))
    let milliseconds = random.below(800_000_000) * 1000 + random.below(1000)
    joined = Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
  }
}
