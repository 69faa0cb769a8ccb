// SPDX-License-Identifier: MIT

import NanoDocument

/// A blob that stays readable while this object exists, even if it is deleted in the meantime.
///
/// Used by one thread at a time, any thread.
package protocol KeptBlob: AnyObject, Sendable {
  var record: BlobRecord { get }
  /// Runs a block that reads chunks of the blob, and of no other.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for a chunk that does not decrypt; ``StoreError/Code/invalidArgument``
  ///   as in ``Engine/read(_:_:_:)``.
  func read<Result>(
    _ interruption: Interruption?, _ work: (any EngineBlobReader) throws -> Result
  ) throws -> Result
  /// Ends the use. Later calls of ``read(_:_:)`` fail with ``StoreError/Code/closed``.
  func close()
}
