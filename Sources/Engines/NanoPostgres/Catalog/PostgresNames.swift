// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Names of tables and indexes on the server. The server truncates names to 63 bytes and distinguishes case;
/// collection names have any length and are case-insensitive.
struct PostgresNames: Sendable {
  let schema: String

  /// Returns the qualified name of a table, index or function of the store's schema.
  func qualified(_ name: String) -> String { SQLName.quoted(schema) + "." + SQLName.quoted(name) }

  /// Returns the table name for a new collection: the collection's name if it fits.
  static func table(of collection: String) -> String {
    guard collection.utf8.count > longestTable else { return collection }
    return collection.prefix(bytes: longestTable - 17) + "_" + hash(collection)
  }

  /// Returns the name of an index, which no collection can have.
  static func index(_ name: String, of collection: String) -> String {
    let prefixText = "nano_" + hash(collection + "\u{0}" + name) + "_"
    return prefixText
      + (collection + "_" + name).prefix(
        bytes: PostgresConfiguration.longestName - prefixText.utf8.count)
  }

  /// Leaves space for the suffix `_p` and a partition number.
  private static let longestTable = 56

  /// Returns the name of the index on all fields of a collection.
  static func wholeIndex(of collection: String) -> String { "nano_all_" + hash(collection) }

  /// Returns the name of the sequence of a collection's row IDs.
  static func sequence(of collection: ExactName) -> String { "nano_ids_" + hash(collection.text) }

  /// The 64-bit FNV-1a hash. Source: http://www.isthe.com/chongo/tech/comp/fnv/
  static func hash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return hash
  }

  /// The hash as 16 hexadecimal digits.
  static func hash(_ text: String) -> String { digits(hash(text)) }

  /// Returns 16 hexadecimal digits for the name of an object that may be dropped and created again. The server looks up
  /// names as they are now, but rows as of a reader's snapshot: with the same name, an older reader would take the new
  /// object, which is empty for it, for the former one.
  static func random() -> String { digits(.random(in: .min ... .max)) }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension String {
  /// Returns the longest prefix of whole scalars that has at most this number of UTF-8 bytes.
  func prefix(bytes: Int) -> String {
    var scalars = UnicodeScalarView()
    var count = 0
    for scalar in unicodeScalars {
      count += UTF8.width(scalar)
      if count > bytes { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }
}
