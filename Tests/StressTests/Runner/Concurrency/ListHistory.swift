// SPDX-License-Identifier: MIT

/// What happened to one list that is only appended to, and whether it could have happened one after the other.
///
/// Each append and each read must have had its effect at one moment between its begin and its end: the list at the end
/// says in which order the appends had it, and how long a list was says where a read belongs among them.
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
    try require(Set(tokens).count == tokens.count, "\(name) has a token twice")
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
        throw TrialFailure("\(name) has \(token), which nobody wrote")
      }
      return append
    }
    try checkOrder(order, tokens)
    try checkReads(order, tokens)
  }

  /// One that ended before another began stands before it.
  private func checkOrder(_ order: [Append], _ tokens: [String]) throws {
    var latest: UInt64 = 0
    for (append, token) in zip(order, tokens) {
      try require(
        append.end >= latest, "\(name) has \(token) behind a token that was written later")
      latest = max(latest, append.start)
    }
  }

  private func checkReads(_ order: [Append], _ tokens: [String]) throws {
    var digests = [Event.digest([])]
    for token in tokens { digests.append(Event.add(token, to: digests[digests.count - 1])) }
    // The latest begin of those before each place, and the earliest end of those behind it.
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
        "\(name) was read with tokens that it does not begin with")
      try require(
        earliest[read.count] >= read.start,
        "\(name) was read without a token that was acknowledged before")
      try require(
        latest[read.count] <= read.end, "\(name) was read with a token that was written later")
    }
  }
}
