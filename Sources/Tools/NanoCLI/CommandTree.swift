// SPDX-License-Identifier: MIT

package import ArgumentParser

/// A mistake in the command line, and the command whose usage shows how to do it.
struct UsageFailure: Error {
  let message: String
  let command: any ParsableCommand.Type
}

/// The commands by their names.
package enum CommandTree {
  /// Every command with the names that lead to it, the program's own first.
  package static func all(
    below command: any ParsableCommand.Type = Nanostore.self, _ path: [String] = []
  ) -> [(path: [String], command: any ParsableCommand.Type)] {
    let path = path + [command._commandName]
    return [(path, command)] + command.configuration.subcommands.flatMap { all(below: $0, path) }
  }

  /// The names that lead to a command, as one types them.
  static func path(of command: any ParsableCommand.Type) -> String {
    let found = all().first { $0.command == command }
    return (found?.path ?? [Nanostore._commandName]).joined(separator: " ")
  }

  /// - Throws: ``UsageFailure`` if the arguments name a command that does not exist, also after `help`, for
  ///   which ArgumentParser shows another command instead.
  static func requireKnownNames(_ arguments: [String]) throws {
    let isHelp = arguments.first == "help"
    var names = (isHelp ? arguments.dropFirst() : arguments.prefix(1)).filter {
      !$0.hasPrefix("-")
    }[...]
    var command: any ParsableCommand.Type = Nanostore.self
    while let name = names.popFirst() {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == name })
      else {
        throw UsageFailure(message: "There is no command '\(name)'", command: command)
      }
      command = next
    }
  }
}
