// SPDX-License-Identifier: MIT

/// The `nanostore-server` executable, which `nanostore serve` runs.
@main
enum Main {
  static func main() async { await ServerCommand.main() }
}
