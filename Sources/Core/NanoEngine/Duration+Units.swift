// SPDX-License-Identifier: MIT

extension Duration {
  /// The duration in seconds, rounded.
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }

  /// The duration in whole milliseconds, rounded toward zero.
  package var inMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
