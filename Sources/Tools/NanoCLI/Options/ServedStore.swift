// SPDX-License-Identifier: MIT

package import NanoStore

/// Opens stores for the sync server as commands open them.
package enum ServedStore {
  /// Opens a store for writing; a file is created if it does not exist.
  package static func open(_ location: String) throws -> Store {
    try StoreLocation.openStore(at: location, .creating)
  }
}
