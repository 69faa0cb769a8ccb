// SPDX-License-Identifier: MIT

import NanoStore

func eachPiece(_ store: Store, _ attachment: Attachment) throws {
  try store.each(of: attachment) { print($0.count) }
}
