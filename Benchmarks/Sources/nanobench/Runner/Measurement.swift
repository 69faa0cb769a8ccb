// SPDX-License-Identifier: MIT

/// Which side a variant stands for.
enum Role: String, Codable {
  case raw, record, other, ours
}

/// What the rounds of one variant took, in nanoseconds.
struct Measurement {
  let role: Role
  let variant: Variant
  private(set) var cpu: [UInt64] = []
  private(set) var wall: [UInt64] = []
  private(set) var answer: Int?

  init(role: Role, variant: Variant) {
    self.role = role
    self.variant = variant
  }

  mutating func add(cpu: UInt64, wall: UInt64, answer: Int) {
    self.cpu.append(cpu)
    self.wall.append(wall)
    self.answer = answer
  }
}
