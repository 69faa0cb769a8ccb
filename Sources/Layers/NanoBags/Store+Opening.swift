// SPDX-License-Identifier: MIT

package import NanoEngine
package import NanoStoreCore

extension Store {
  /// Opens a store with bags, and without warnings, on the engine that the closure creates.
  package convenience init(opening open: @escaping @Sendable () throws -> any Engine) throws {
    var configuration = Configuration()
    configuration.warnsAboutUnknownFields = false
    try self.init(configuration, references: BagReferences()) { _ in try open() }
  }
}
