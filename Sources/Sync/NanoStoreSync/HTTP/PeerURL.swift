// SPDX-License-Identifier: MIT

package import NanoDocument

/// The URL of a database of a peer.
///
/// URLs are put together as text: libraries decode `%2F` or remove `.` and `..`, which are parts of IDs.
package struct PeerURL: Sendable, Hashable {
  /// The scheme and the authority, without credentials, such as `https://example.org:6984`.
  let origin: String
  /// The path of the server, below which the database is: empty, or with a leading slash.
  let root: String
  /// The percent-encoded name of the database.
  let database: String
  /// The credentials in the URL.
  let user: (name: String, password: String)?

  /// The URL in its normal form, without credentials.
  var identity: String { origin + path }
  /// The path of the database.
  var path: String { "\(root)/\(database)" }

  /// - Parameters:
  ///   - server: The URL of a server.
  ///   - database: The name of the database below it.
  /// - Throws: ``/NanoDocument/StoreError/Code/invalidArgument``, without the URL, which may contain credentials.
  package init(server: String, database: String) throws(StoreError) {
    let (scheme, afterScheme) = Self.split(server, at: "://")
    guard let afterScheme, let defaultPort = ["http": 80, "https": 443][scheme.lowercased()] else {
      throw Self.invalid("a URL that begins with http:// or https://")
    }
    guard !database.isEmpty else {
      throw StoreError(.invalidArgument, "The name of a peer's database is empty")
    }
    let end = afterScheme.firstIndex { "/?#".contains($0) } ?? afterScheme.endIndex
    var authority = afterScheme[..<end]
    let path = afterScheme[end...]
    guard !path.contains(where: { $0 == "?" || $0 == "#" }) else {
      throw Self.invalid("a URL without a query and a fragment")
    }
    user = try Self.user(&authority)
    let (host, port) = try Self.hostAndPort(authority, defaultPort)
    origin = "\(scheme.lowercased())://\(host):\(port)"
    var segments: [String] = []
    for segment in path.split(separator: "/", omittingEmptySubsequences: true) {
      guard let decoded = Self.decoded(segment) else {
        throw Self.invalid("valid percent-encoding")
      }
      segments.append(Self.encoded(decoded))
    }
    self.database = Self.encoded(database)
    root = segments.map { "/" + $0 }.joined()
  }

  private static func invalid(_ expected: String) -> StoreError {
    StoreError(.invalidArgument, "The URL of a peer is not valid", [.expected: expected])
  }

  private static func split(_ text: String, at separator: String) -> (String, Substring?) {
    guard let range = text.firstRange(of: separator) else { return (text, nil) }
    return (String(text[..<range.lowerBound]), text[range.upperBound...])
  }

  /// Removes the credentials from an authority.
  private static func user(
    _ authority: inout Substring
  ) throws(StoreError) -> (name: String, password: String)? {
    guard let at = authority.lastIndex(of: "@") else { return nil }
    let parts = authority[..<at].split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    authority = authority[authority.index(after: at)...]
    guard let name = decoded(parts[0]), let password = decoded(parts.count > 1 ? parts[1] : "")
    else {
      throw invalid("valid percent-encoding")
    }
    return name.isEmpty ? nil : (name, password)
  }

  private static func hostAndPort(
    _ authority: Substring, _ defaultPort: Int
  ) throws(StoreError) -> (host: String, port: Int) {
    var (host, port) = (authority, defaultPort)
    // The colons inside brackets are part of an IPv6 address.
    if let colon = authority.lastIndex(of: ":"),
      colon >= authority.lastIndex(of: "]") ?? authority.startIndex
    {
      host = authority[..<colon]
      let digits = authority[authority.index(after: colon)...]
      if !digits.isEmpty {
        guard let number = Int(digits), (1...65_535).contains(number) else {
          throw invalid("a port from 1 to 65535")
        }
        port = number
      }
    }
    let isValid = host.utf8.allSatisfy {
      $0 > 0x20 && $0 < 0x7F && !"<>\"\\^`{|}%".utf8.contains($0)
    }
    guard !host.isEmpty, isValid else { throw invalid("the name or the address of a host") }
    return (host.lowercased(), port)
  }
}

extension PeerURL: CustomStringConvertible, CustomReflectable {
  /// Without credentials.
  package var description: String { identity }
  package var customMirror: Mirror { Mirror(self, children: ["identity": identity]) }
}

extension PeerURL {
  package static func == (a: PeerURL, b: PeerURL) -> Bool { a.identity == b.identity }
  package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Percent-encoding.
extension PeerURL {
  /// Returns the URL of something in the database.
  ///
  /// - Parameters:
  ///   - path: Percent-encoded.
  ///   - query: Percent-encoded here.
  func text(_ path: String, _ query: [(String, String)] = []) -> String {
    var text = "\(identity)/\(path)"
    for (index, (name, value)) in query.enumerated() {
      text += index == 0 ? "?" : "&"
      text += "\(name)=\(Self.encoded(value))"
    }
    return text
  }

  /// The URL of the session of the server.
  var session: String { "\(origin)\(root)/_session" }

  /// Returns the path of a document.
  static func document(_ id: String) -> String {
    for prefix in ["_design/", "_local/"] where id.utf8.starts(with: prefix.utf8) {
      return prefix + encoded(String(decoding: id.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
    }
    return encoded(id)
  }

  /// Returns the path of an attachment, in whose name slashes are not encoded, as all clients do.
  static func attachment(_ name: String, of id: String) -> String {
    document(id) + "/" + encoded(name, except: UInt8(ascii: "/"))
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Encodes all bytes but those that RFC 3986 calls unreserved.
  static func encoded(_ text: String, except kept: UInt8? = nil) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: out.append(byte)
      case _ where byte == kept: out.append(byte)
      default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Returns nil for text that is not valid.
  static func decoded(_ text: some StringProtocol) -> String? {
    var out: [UInt8] = []
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        out.append(byte)
        continue
      }
      guard let high = bytes.popFirst().flatMap(digit), let low = bytes.popFirst().flatMap(digit)
      else { return nil }
      out.append(high << 4 | low)
    }
    return String(validating: out, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }
}
