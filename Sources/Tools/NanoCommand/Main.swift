// SPDX-License-Identifier: MIT

import NanoCLI

/// The program `nanostore`. What it does is a library, so that other programs can try it with arguments and
/// input of their own.
@main
enum Main {
  static func main() { Nanostore.main() }
}
