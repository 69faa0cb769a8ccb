// SPDX-License-Identifier: MIT

/// The `nanostore-inspector` executable, which `nanostore inspect` runs.
@main
enum Main {
  static func main() async { await InspectorCommand.main() }
}
