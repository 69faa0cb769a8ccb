// SPDX-License-Identifier: MIT

/// The history of an append-only list, and a check that it is linearizable.
///
/// Each append and each read must take effect at one moment between its start and its end. The final list determines
/// the order of the appends, and the length of a list determines the position of a read among them.
struct ListHistory {
  struct Append {
    let start: UInt64
    let end: UInt64
    let done: Bool
  }
  struct Read {
    let start: UInt64
    let end: UInt64
    let count: Int
    let digest: UInt64
  }
  let name: String
  var appends: [String: Append] = [:]
  var reads: [Read] = []

  func check(_ tokens: [String]) throws {
    try require(Set(tokens).count == tokens.count, "\(name) has a duplicate token")
    let places = Set(tokens)
    for (token, append) in appends {
      try require(
        append.done == places.contains(token),
        append.done
          ? "\(name) lost \(token), which was acknowledged"
          : "\(name) has \(token), whose write failed")
    }
    let order = try tokens.map { token in
      guard let append = appends[token] else {
        throw StressTestFailure("\(name) has \(token), which was never written")
      }
      return append
    }
    try checkOrder(order, tokens)
    try checkReads(order, tokens)
  }

  /// Checks that an append that ended before another one started also precedes it in the list.
  private func checkOrder(_ order: [Append], _ tokens: [String]) throws {
    var latest: UInt64 = 0
    for (append, token) in zip(order, tokens) {
      try require(
        append.end >= latest, "\(name) has \(token) after a token that was written later")
      latest = max(latest, append.start)
    }
  }

  private func checkReads(_ order: [Append], _ tokens: [String]) throws {
    var digests = [Event.digest([])]
    for token in tokens { digests.append(Event.add(token, to: digests[digests.count - 1])) }
    // The latest start of the appends before each position, and the earliest end of those after it.
    var latest: [UInt64] = [0]
    for append in order { latest.append(max(latest[latest.count - 1], append.start)) }
    var earliest: [UInt64] = [.max]
    for append in order.reversed() {
      earliest.append(min(earliest[earliest.count - 1], append.end))
    }
    earliest.reverse()
    for read in reads {
      try require(
        read.count <= tokens.count && read.digest == digests[read.count],
        "\(name) was read with tokens that are not a prefix of it")
      try require(
        earliest[read.count] >= read.start,
        "\(name) was read without a previously acknowledged token")
      try require(
        latest[read.count] <= read.end, "\(name) was read with a token that was written later")
    }
  }
}
