// SPDX-License-Identifier: MIT

import Foundation

/// The name of a super-journal at the end of a rollback journal, which belongs to a transaction of several files
/// (https://www.sqlite.org/fileformat.html#the_super_journal; `readSuperJournal` in SQLite's pager.c).
///
/// SQLite deletes the file of this name when it has rolled the journal back, unless that file names the journal. In a hostile
/// journal, it is any file.
enum SuperJournal {
  private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
  /// SQLite ignores longer names.
  private static let maximumLength = 512

  /// Removes the name from the copy of a journal, which SQLite then rolls back as one of a single file.
  ///
  /// The copy is removed if there is no file of the name: the transaction was committed.
  static func forget(in journal: String) {
    let file = open(journal, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return }
    defer { close(file) }
    let end = lseek(file, 0, SEEK_END)
    // The length of the name, a checksum, and the magic number.
    guard end >= 16, let trailer = bytes(of: file, end - 16, 16), Array(trailer[8...]) == magic
    else { return }
    func number(_ at: Int) -> UInt32 { trailer[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    let length = Int(number(0))
    if (1...maximumLength).contains(length), length <= end - 16,
      let name = bytes(of: file, end - 16 - off_t(length), length),
      name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) })
        == number(4),
      access(String(decoding: name, as: UTF8.self), F_OK) != 0
    {
      unlink(journal)
    } else {
      _ = pwrite(file, [UInt8](repeating: 0, count: magic.count), magic.count, end - 8)
    }
  }

  private static func bytes(of file: Int32, _ offset: off_t, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(file, &bytes, count, offset) == count ? bytes : nil
  }
}
