// SPDX-License-Identifier: MIT

package import ArgumentParser
import Foundation

/// The command line of NanoStore: each command is a file in `Commands/`.
package struct Nanostore: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "nanostore",
    abstract: "Keeps JSON documents in one file and finds them again.",
    discussion: """
      A database is a file, a collection a name in it. Conditions are SQLite's expressions with \
      fields in square brackets: "[year] > 2010 AND [genres] = 'Action'"; a condition on a field \
      that holds a list is true if any element fulfils it.

      Exit status: 0 if all went well; 1 if the operation failed or verify found problems; 2 if \
      get found no document; 64 if the command line is wrong.

      With --debug, any command shows an error with its code and every detail.

      nanostore --generate-completion-script bash (or zsh, fish) prints a script that completes \
      commands and options in your shell.
      """,
    version: "nanostore 0.1.0",
    subcommands: [
      ImportCommand.self, ExportCommand.self,
      FindCommand.self, SearchCommand.self, GetCommand.self, PutCommand.self, DeleteCommand.self,
      CountCommand.self,
      AggregateCommand.self, WatchCommand.self,
      CollectionsCommand.self, SchemaCommand.self, IndexCommand.self, ConfigureCommand.self,
      ExplainCommand.self,
      SQLCommand.self,
      VerifyCommand.self, RecoverCommand.self, CompactCommand.self, BackupCommand.self,
      CopyCommand.self,
      StatsCommand.self,
    ])

  package init() {}

  package static func main() {
    // A reader that has seen enough closes the pipe; that is an error of `write`, not a signal.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try command(of: CommandArguments.text())
      do {
        try command.run()
      } catch let error as ValidationError {
        // ArgumentParser knows the command only while it parses, and would show the usage of the root.
        throw UsageFailure(message: error.message, command: type(of: command))
      }
    } catch {
      FailureReport.exit(with: error)
    }
  }

  /// As every error of the tool begins.
  package static var _errorLabel: String { "error" }

  /// What arguments say is to be done; nothing of it is done yet.
  package static func command(of arguments: [String]) throws -> any ParsableCommand {
    try CommandTree.requireKnownNames(arguments)
    return try parseAsRoot(OrderedArguments.joined(arguments))
  }
}
