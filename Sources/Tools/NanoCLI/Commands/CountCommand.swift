// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Say how many documents fulfil a condition.")

  @OptionGroup var place: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  func run() throws {
    let count = try place.withCollection(.reading) { try condition.query(in: $0).count() }
    try Output.run { try $0.line("\(count)") }
  }
}
