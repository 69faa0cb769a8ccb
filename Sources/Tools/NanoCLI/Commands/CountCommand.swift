// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Print the number of documents that match a condition.")

  @OptionGroup var target: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  func run() throws {
    let count = try target.withCollection(.reading) { try condition.query(in: $0).count() }
    try Output.run { try $0.line("\(count)") }
  }
}
