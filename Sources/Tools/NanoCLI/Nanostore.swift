// SPDX-License-Identifier: MIT

package import ArgumentParser
import Foundation

/// The root command of `nanostore`; subcommands are in `Commands/`.
package struct Nanostore: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "nanostore",
    abstract: "Stores JSON documents in a database and queries them.",
    discussion: """
      A database is a file, or a PostgreSQL database specified by URL, that contains named \
      collections of documents. Conditions are SQLite expressions with field names in square \
      brackets: "[year] > 2010 AND [genres] = 'Action'". A condition on a field that contains an \
      array is true if any element matches.

      Exit status: 0 on success; 1 if the operation failed or verify found problems; 2 if get found \
      no document; 64 if the command line is invalid.

      With --debug, every command prints errors with their code and all details.

      nanostore --generate-completion-script bash (or zsh, fish) prints a completion script for \
      your shell.
      """,
    version: "nanostore 0.1.0",
    subcommands: [
      ImportCommand.self, ExportCommand.self, ImportLegacyCommand.self,
      InspectLegacyCommand.self,
      FindCommand.self, SearchCommand.self, GetCommand.self, PutCommand.self, UpdateCommand.self,
      DeleteCommand.self, AttachmentCommand.self,
      CountCommand.self,
      AggregateCommand.self, WatchCommand.self, ChangesCommand.self,
      CollectionsCommand.self, SchemaCommand.self, IndexCommand.self, ConfigureCommand.self,
      ExpireCommand.self, ExplainCommand.self, InspectCommand.self,
      ServeCommand.self,
      SQLCommand.self,
      VerifyCommand.self, RecoverCommand.self, CompactCommand.self, BackupCommand.self,
      CopyCommand.self,
      StatsCommand.self,
    ])

  package init() {}

  package static func main() {
    // With the signal ignored, `write` fails with EPIPE when the reader closes the pipe.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try command(of: CommandArguments.text())
      do {
        try command.run()
      } catch let error as ValidationError {
        // ArgumentParser tracks the command only while parsing, and would print the usage of the root command.
        throw UsageFailure(message: error.message, command: type(of: command))
      }
    } catch {
      FailureReport.exit(with: error)
    }
  }

  /// The lower-case label that starts every error message.
  package static var _errorLabel: String { "error" }

  /// Parses the arguments into a command without running it.
  package static func command(of arguments: [String]) throws -> any ParsableCommand {
    try CommandTree.requireKnownNames(arguments)
    let command = try parseAsRoot(OrderedArguments.joined(arguments))
    // ArgumentParser takes text such as `-the` for a group of short options, and prints the help for its `h`.
    let options = arguments.prefix { $0 != "--" }
    if !CommandTree.all().contains(where: { $0.command == type(of: command) }),
      !options.contains(
        where: ["-h", "-help", "--help", "--help-hidden", "--version", "help"].contains),
      let group = options.first(where: { $0.hasPrefix("-") && !$0.hasPrefix("--") })
    {
      throw UsageFailure(
        message: "Unknown option '\(group)'; write -- before arguments that begin with -",
        command: CommandTree.command(of: arguments))
    }
    return command
  }
}
