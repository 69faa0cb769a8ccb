// SPDX-License-Identifier: MIT

import Foundation

/// The number of files and connections that the process may have open.
enum DescriptorLimit {
  /// Raises the limit to what the system allows without permission. The usual one, 1,024, is less than the connections of
  /// a server, which would then try to accept the next one without a pause.
  static func raise() {
    var limit = rlimit()
    #if canImport(Darwin)
      guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return }
      // The system refuses a higher one, also if there is no hard limit.
      limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
      _ = setrlimit(RLIMIT_NOFILE, &limit)
    #else
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      guard getrlimit(resource, &limit) == 0 else { return }
      limit.rlim_cur = limit.rlim_max
      _ = setrlimit(resource, &limit)
    #endif
  }
}
