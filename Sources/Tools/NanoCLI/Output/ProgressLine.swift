// SPDX-License-Identifier: MIT

import Synchronization

/// A progress line at the bottom of the terminal; prints nothing if standard error is not a terminal.
final class ProgressLine: Sendable {
  private let isShown: Bool
  private let start = ContinuousClock.now
  private let lastShown = Mutex<ContinuousClock.Instant?>(nil)

  /// The minimum interval between updates, short enough to appear continuous.
  private static let interval = Duration.milliseconds(100)

  init(isShown: Bool = Terminal.isDiagnostics) { self.isShown = isShown }

  var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }

  /// - Parameters:
  ///   - fraction: The completed fraction, if known.
  ///   - text: A description of the progress.
  func show(_ fraction: Double?, _ text: @autoclosure () -> String) {
    guard isShown else { return }
    let now = ContinuousClock.now
    let isEarly = lastShown.withLock { last in
      if let last, now - last < Self.interval { return true }
      last = now
      return false
    }
    guard !isEarly else { return }
    // Return to the start of the line, then clear what remains of the previous text.
    Diagnostics.write("\r\(Self.line(fraction, text(), after: elapsed))\u{1B}[K")
  }

  func clear() {
    if lastShown.withLock(\.self) != nil { Diagnostics.write("\r\u{1B}[K") }
  }

  /// `[#####---------------]  25 %  12,000 documents, 40,000/s, 3 s left`
  static func line(_ fraction: Double?, _ text: String, after seconds: Double) -> String {
    guard let fraction else { return text }
    let done = min(max(fraction, 0), 1)
    let filled = Int(done * 20)
    let bar =
      String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
    var line = "[\(bar)] \(Int(done * 100)) %  \(text)"
    if done > 0.01, seconds > 0.5 {
      line += ", \(Quantity.duration(seconds * (1 - done) / done)) left"
    }
    return line
  }
}

/// Formats numbers for people.
enum Quantity {
  /// Returns a number with thousands separators, such as `1,234,567`.
  static func count(_ number: Int) -> String {
    var digits = String(number.magnitude)
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits = String(digits.dropLast(3))
    }
    return (number < 0 ? "-" : "") + ([Substring(digits)] + groups).joined(separator: ",")
  }

  static func documents(_ number: Int) -> String {
    number == 1 ? "1 document" : "\(count(number)) documents"
  }

  /// Returns a size in decimal units, such as `12.5 MB`.
  static func bytes(_ number: Int) -> String {
    var amount = Double(number)
    for unit in ["bytes", "kB", "MB", "GB"] {
      guard amount >= 1000 else {
        return unit == "bytes" ? "\(number) bytes" : "\(tenths(amount)) \(unit)"
      }
      amount /= 1000
    }
    return "\(tenths(amount)) TB"
  }

  static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "?" }
    if seconds < 0.1 { return "\(Int((seconds * 1000).rounded(.up))) ms" }
    if seconds < 10 { return "\(tenths(seconds)) s" }
    let whole = Int(min(seconds, 1e9))
    if whole < 100 { return "\(whole) s" }
    return "\(whole / 60) min \(whole % 60) s"
  }

  /// Returns a rate per second, such as `1,320/s`.
  static func rate(_ number: Int, _ seconds: Double) -> String {
    count(Int(min(1e15, Double(number) / max(seconds, 1e-3)))) + "/s"
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
