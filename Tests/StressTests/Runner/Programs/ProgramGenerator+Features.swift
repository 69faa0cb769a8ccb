// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

extension ProgramGenerator {
  private static let attachments = ["p", "q", "é"]

  /// Returns a call about attachments, expiration, a change feed or a live query.
  mutating func feature() -> Call {
    let name = name()
    let attachment = random.pick(Self.attachments)
    switch random.number(0...19) {
    case 0...4:
      // The last one consists of several chunks.
      return .attach(name, key(), name: attachment, bytes: random.pick([0, 1, 100, 300_000]))
    case 5:
      let new = random.pick(Self.attachments)
      return .renameAttachment(name, key(), name: attachment, to: new)
    case 6: return .removeAttachment(name, key(), name: attachment)
    case 7, 8: return .attachments(name, key())
    case 9...11: return .expire(name, target(), seconds: random.pick([nil, -10, 5, 60, 1_000]))
    case 12: return .expirationRule(name, expirationRule())
    case 13: return .expiration(name, target())
    case 14...16:
      guard mode.tracksChanges else { return .expire(name, target(), seconds: 5) }
      return .track(name, random.oneIn(3) ? .off : .on)
    default: return .observe(name, query())
    }
  }

  private mutating func expirationRule() -> ExpirationRule? {
    random.pick([nil, .after(.seconds(30)), .field("b"), .field("a.b", after: .seconds(10))])
  }
}
