// SPDX-License-Identifier: MIT

package import ArgumentParser

/// An invalid command line, with the command whose usage is printed.
struct UsageFailure: Error {
  let message: String
  let command: any ParsableCommand.Type
}

/// The tree of commands and subcommands.
package enum CommandTree {
  /// Returns every command with its full path, starting with the root command.
  package static func all(
    below command: any ParsableCommand.Type = Nanostore.self, _ path: [String] = []
  ) -> [(path: [String], command: any ParsableCommand.Type)] {
    let path = path + [command._commandName]
    return [(path, command)] + command.configuration.subcommands.flatMap { all(below: $0, path) }
  }

  /// Returns the full path of a command as typed in a shell, such as `nanostore index list`.
  static func path(of command: any ParsableCommand.Type) -> String {
    let found = all().first { $0.command == command }
    return (found?.path ?? [Nanostore._commandName]).joined(separator: " ")
  }

  /// Returns the command that the arguments begin with.
  static func command(of arguments: [String]) -> any ParsableCommand.Type {
    var command: any ParsableCommand.Type = Nanostore.self
    for name in arguments {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == name })
      else { break }
      command = next
    }
    return command
  }

  /// Checks that the arguments name an existing command.
  ///
  /// Also covers the arguments of `help`, for which ArgumentParser prints the help of a different command.
  ///
  /// - Throws: ``UsageFailure`` if a command does not exist.
  static func requireKnownNames(_ arguments: [String]) throws {
    let isHelp = arguments.first == "help"
    var names = (isHelp ? arguments.dropFirst() : arguments.prefix(1)).filter {
      !$0.hasPrefix("-")
    }[...]
    var command: any ParsableCommand.Type = Nanostore.self
    while let name = names.popFirst() {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == name })
      else {
        throw UsageFailure(message: "Unknown command '\(name)'", command: command)
      }
      command = next
    }
  }
}
