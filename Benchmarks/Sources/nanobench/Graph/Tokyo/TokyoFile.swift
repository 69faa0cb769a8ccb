// SPDX-License-Identifier: MIT

#if canImport(CTokyo)
  internal import CTokyo

  /// A Tokyo Cabinet hash database with the default settings of BNRPersistence: no tuning, no transactions, no
  /// syncing.
  final class TokyoFile {
    private let handle: UnsafeMutablePointer<TCHDB>

    init(_ path: String) throws {
      handle = tchdbnew()
      let mode = HDBOREADER | HDBOWRITER | HDBONOLCK | HDBOCREAT
      guard tchdbopen(handle, path, Int32(mode)) else { throw failure(path) }
    }

    deinit { tchdbdel(handle) }

    func close() throws { if !tchdbclose(handle) { throw failure("close") } }

    var count: Int { Int(tchdbrnum(handle)) }

    func put(_ rowID: UInt32, _ record: TokyoRecord) throws {
      var key = rowID.littleEndian
      let isStored = record.bytes.withUnsafeBytes {
        tchdbput(handle, &key, 4, $0.baseAddress, Int32($0.count))
      }
      if !isStored { throw failure("put") }
    }

    /// Passes the content of a record, which Tokyo Cabinet copies, to the closure. Returns false if there is none.
    func get(_ rowID: UInt32, _ show: (inout TokyoReader) -> Void) -> Bool {
      var key = rowID.littleEndian
      var size: Int32 = 0
      guard let value = tchdbget(handle, &key, 4, &size) else { return false }
      defer { free(value) }
      var reader = TokyoReader(UnsafeRawBufferPointer(start: value, count: Int(size)))
      show(&reader)
      return true
    }

    /// Passes all records to the closure in file order. Like the original, gets the next key and then its record.
    func each(_ show: (UInt32, inout TokyoReader) -> Void) throws {
      guard tchdbiterinit(handle) else { throw failure("iterate") }
      var size: Int32 = 0
      while let key = tchdbiternext(handle, &size) {
        let rowID = UInt32(littleEndian: key.loadUnaligned(as: UInt32.self))
        free(key)
        _ = get(rowID) { show(rowID, &$0) }
      }
    }

    private func failure(_ context: String) -> RawFailure {
      RawFailure(message: String(cString: tchdberrmsg(tchdbecode(handle))), context: context)
    }
  }
#endif
