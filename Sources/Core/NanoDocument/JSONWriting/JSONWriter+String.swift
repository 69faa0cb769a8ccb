// SPDX-License-Identifier: MIT

extension JSONWriter {
  /// Writes a quoted string. Only `"`, `\` and control characters are escaped.
  @inlinable @inline(__always)
  public mutating func string(_ text: borrowing String) {
    // Not `withUTF8`, which needs a mutable copy and so a retain and release for every string.
    let done: Void? = text.utf8.withContiguousStorageIfAvailable { quoted($0) }
    if _slowPath(done == nil) { bridged(copy text) }
  }

  /// Writes a field name and the colon after it. A leading `$` is doubled to distinguish the name from
  /// stored forms.
  @inlinable @inline(__always)
  public mutating func fieldName(_ name: borrowing String) {
    let at = used
    if _slowPath(name.utf8.first == ASCII.dollar) { byte(ASCII.quote) }
    let second = used
    string(name)
    // Overwrite the string's opening quote with the second dollar sign.
    if _slowPath(second != at) { base[second] = ASCII.dollar }
    byte(ASCII.colon)
  }

  /// Writes a string without contiguous UTF-8 storage, such as a lazily bridged `NSString`.
  @usableFromInline @inline(never)
  mutating func bridged(_ text: String) {
    var text = text
    text.withUTF8 { quoted($0) }
  }

  /// Writes a quoted string from its UTF-8, which must be valid.
  ///
  /// Copies the text and detects escapes in one pass. If any are needed, the string is written again
  /// with escapes.
  @inlinable
  package mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) {
    let length = text.count
    reserve(length &+ 2)
    var out = base + used
    out.pointee = ASCII.quote
    out += 1
    guard length > 0, let source = text.baseAddress else {
      out.pointee = ASCII.quote
      used &+= 2
      return
    }
    var needsEscape: UInt64 = 0
    if length >= 8 {
      var at = 0
      while at &+ 8 <= length {
        let word = load64(source + at)
        needsEscape |= escapeMask(word)
        store64(word, out + at)
        at &+= 8
      }
      let last = length &- 8  // overlaps bytes already copied
      let word = load64(source + last)
      needsEscape |= escapeMask(word)
      store64(word, out + last)
    } else if length >= 4 {
      let first = load32(source)
      let last = load32(source + (length &- 4))
      needsEscape = escapeMask(UInt64(first) | UInt64(last) << 32)
      store32(first, out)
      store32(last, out + (length &- 4))
    } else {
      var word: UInt64 = 0x2020_2020_2020_2020
      var at = 0
      while at < length {
        out[at] = source[at]
        word = word << 8 | UInt64(source[at])
        at &+= 1
      }
      needsEscape = escapeMask(word)
    }
    if _slowPath(needsEscape != 0) { return escaped(text) }
    out[length] = ASCII.quote
    used &+= length &+ 2
  }

  @usableFromInline @inline(never)
  mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
    reserve(text.count * 6 + 2)
    byte(ASCII.quote)
    for byte in text {
      switch byte {
      case ASCII.quote, ASCII.backslash: escape(byte)
      case 0x08: escape(0x62)
      case 0x09: escape(0x74)
      case 0x0A: escape(0x6E)
      case 0x0C: escape(0x66)
      case 0x0D: escape(0x72)
      case 0..<0x20:
        literal("\\u00")
        self.byte(0x30 &+ (byte >> 4))
        let low = byte & 15
        self.byte(low < 10 ? 0x30 &+ low : 0x57 &+ low)
      default: self.byte(byte)
      }
    }
    byte(ASCII.quote)
  }

  private mutating func escape(_ letter: UInt8) {
    byte(ASCII.backslash)
    byte(letter)
  }
}
