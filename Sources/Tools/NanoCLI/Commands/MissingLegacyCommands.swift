// SPDX-License-Identifier: MIT

#if !LegacyImport
  import ArgumentParser

  // `make demo` builds the tool without the trait LegacyImport: swift-crypto, which decrypts old records, takes a third
  // of the build time.

  struct InspectLegacyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "inspect-legacy",
      abstract: "Print what a store of an older library contains (not part of this build).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws { throw CommandFailure.builtWithoutLegacyImport }
  }

  struct ImportLegacyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import-legacy",
      abstract: "Import a store of an older library (not part of this build).")

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws { throw CommandFailure.builtWithoutLegacyImport }
  }

  extension CommandFailure {
    static let builtWithoutLegacyImport = CommandFailure(
      message: """
        This build of the tool does not import the stores of older libraries. A build with all commands: \
        swift build -c release --product nanostore
        """)
  }
#endif
