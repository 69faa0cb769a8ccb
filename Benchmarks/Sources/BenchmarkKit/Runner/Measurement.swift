// SPDX-License-Identifier: MIT

/// The library that a variant represents.
package enum Role: String, Codable {
  case raw, record, other, ours
}

/// The times of the rounds of one variant, in nanoseconds.
package struct Measurement {
  package let role: Role
  package let variant: Variant
  package private(set) var cpu: [UInt64] = []
  package private(set) var wall: [UInt64] = []
  package private(set) var answer: Int?

  package init(role: Role, variant: Variant) {
    self.role = role
    self.variant = variant
  }

  package mutating func add(cpu: UInt64, wall: UInt64, answer: Int) {
    self.cpu.append(cpu)
    self.wall.append(wall)
    self.answer = answer
  }
}
