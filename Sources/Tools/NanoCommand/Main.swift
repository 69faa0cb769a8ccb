// SPDX-License-Identifier: MIT

import NanoCLI

/// The `nanostore` executable.
///
/// The implementation is a library, so that other programs can run it with arbitrary arguments and input.
@main
enum Main {
  static func main() { Nanostore.main() }
}
