// SPDX-License-Identifier: MIT

import NanoDocument

/// The memory that a running pipeline holds for groups, sorted rows and collected values.
///
/// Confined to one thread at a time.
final class PipelineMemory {
  /// The maximum number of bytes that a pipeline holds in memory and cannot move to an external sorter.
  /// Arbitrary: about a million collected numbers.
  static let maximumBytes = 128 << 20
  /// The number of bytes from which on groups and sorted rows are moved to an external sorter. Arbitrary.
  static let spillBytes = 32 << 20

  private(set) var held = 0

  /// Charges bytes that cannot be moved to an external sorter.
  ///
  /// - Throws: ``StoreError/Code/tooComplex``.
  func hold(_ count: Int) throws(StoreError) {
    held += count
    guard held > Self.maximumBytes else { return }
    throw StoreError(
      .tooComplex, "A pipeline holds too many values in memory",
      [
        .limit: "\(Self.maximumBytes) bytes",
        .hint: "collect fewer values, or select a part of the documents",
      ])
  }

  func release(_ count: Int) { held -= count }
}

extension DocumentValue {
  /// The approximate size in memory.
  var approximateBytes: Int {
    switch self {
    case .string(let text): 32 + text.utf8.count
    case .data(let data): 32 + data.count
    case .url(let url): 64 + url.absoluteString.utf8.count
    case .array(let array): array.reduce(48) { $0 + $1.approximateBytes }
    case .object(let object): object.approximateBytes
    default: 32
    }
  }
}

extension DocumentObject {
  var approximateBytes: Int {
    reduce(96) { $0 + 48 + $1.name.utf8.count + $1.value.approximateBytes }
  }
}
