// SPDX-License-Identifier: MIT

// Without these overloads, each type would take the generic path, which is half as slow again.
extension ByteObject {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try read(key) { (r) throws(StoreError) in try r.bool() }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.bool() }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try read(key) { (r) throws(StoreError) in try r.string() }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.string() }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try read(key) { (r) throws(StoreError) in try r.double() }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.double() }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try read(key) { (r) throws(StoreError) in try r.float() }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.float() }
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try read(key) { (r) throws(StoreError) in try r.integer() }
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try readIfPresent(key) { (r) throws(StoreError) in try r.integer() }
  }
}
