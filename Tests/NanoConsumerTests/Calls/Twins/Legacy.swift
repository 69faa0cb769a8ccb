// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy

func importOldStores(_ store: Store, _ file: URL) async throws {
  let summary = try await LegacyStore.inspect(file)
  let options = LegacyImportOptions(existing: .skip, isResumable: true)
  let report = try await store.importLegacy(from: file, options: options) { print($0.fraction) }
  print(summary.records, report.imported, report.skipped)
}
