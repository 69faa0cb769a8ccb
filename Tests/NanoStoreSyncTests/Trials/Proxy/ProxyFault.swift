// SPDX-License-Identifier: MIT

import NanoTesting

/// What a proxy does with a request instead of forwarding it.
enum ProxyFault: Sendable, Hashable {
  /// Closes the connection before anything is forwarded.
  case refuse
  /// Forwards this part of the request, and closes the connection.
  case cutRequest(Double)
  /// Forwards the request, and closes the connection after this number of bytes of the answer.
  case cutAnswer(Int)
  /// Answers with a status without forwarding the request.
  case status(Int)
  /// Answers that the server is overloaded for this number of seconds.
  case busy(Int)
  /// Forwards the request, and answers that the server fails: it has acted nevertheless.
  case lostAnswer
  /// Forwards the request twice, and answers the second time.
  case duplicate
  /// Forwards the request after a pause.
  case delay(Duration)
  /// Closes the connection, and forwards the request after a pause: later requests overtake it.
  case late(Duration)

  static func random(_ random: inout SplitMix) -> ProxyFault {
    let pause = Duration.milliseconds(Int.random(in: 1...40, using: &random))
    return switch Int.random(in: 0..<8, using: &random) {
    case 0: .refuse
    case 1: .cutRequest(.random(in: 0..<1, using: &random))
    case 2: .cutAnswer(Self.length(&random))
    case 3: .status([500, 502, 503, 504, 429, 408].randomElement(using: &random) ?? 500)
    case 4: .lostAnswer
    case 5: .duplicate
    case 6: .delay(pause)
    default: .late(pause)
    }
  }

  /// Within the head, within the first documents, or far into the answer.
  private static func length(_ random: inout SplitMix) -> Int {
    Int.random(in: 1...[60, 400, 4_000].randomElement(using: &random)!, using: &random)
  }
}
