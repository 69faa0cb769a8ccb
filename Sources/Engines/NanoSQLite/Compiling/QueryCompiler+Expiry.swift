// SPDX-License-Identifier: MIT

import NanoSQL

extension QueryCompiler {
  /// Returns the condition that leaves out expired documents, which SQLite looks up once.
  func isNotExpired(at time: Int64) -> SQLFragment {
    let expirations = ExpirySchema(metadata.table).expirations
    return SQLFragment("id NOT IN (SELECT id FROM \(expirations) WHERE expires <= ")
      + .parameter(.int(time)) + ")"
  }

  /// Returns the same condition for a statement that reads a single row.
  func isVisible(at time: Int64) -> SQLFragment {
    SQLFragment(ExpirySchema(metadata.table).isVisible("?"), [.int(time)])
  }
}
