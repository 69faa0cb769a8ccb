// SPDX-License-Identifier: MIT

import NanoSQLite

extension Store {
  /// Deletes the file of a store in which nothing was ever stored, for a caller that has just
  /// created it and failed to fill it. Afterwards the store can only be closed.
  package func discardIfUnused() throws {
    try (engine().unchecked as? SQLiteEngine)?.closeDiscardingUnused()
  }
}
