// SPDX-License-Identifier: MIT

import Foundation

/// The user's browser.
enum Browser {
  /// Opens a URL, which all users of the machine can see; does nothing where there is no browser, since another URL was
  /// printed.
  static func open(_ url: String) {
    #if os(macOS)
      let program = "/usr/bin/open"
    #else
      let program = "/usr/bin/xdg-open"
    #endif
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = [url]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try? process.run()
  }
}
