// SPDX-License-Identifier: MIT

/// URLs to which redirects lead, as text: the paths stay as servers write them.
enum Redirect {
  /// Returns the scheme, the host and the port of a URL, in the form of ``PeerURL/origin``.
  static func origin(_ url: String) -> String? {
    let end = url.firstRange(of: "://").flatMap {
      url[$0.upperBound...].firstIndex { "/?#".contains($0) }
    }
    return try? PeerURL(server: String(url[..<(end ?? url.endIndex)]), database: "_").origin
  }

  /// Returns the URL to which a redirect leads.
  static func target(_ location: String, of url: String) -> String? {
    let location = String(location.prefix { $0 != "#" })
    if location.contains("://") { return location }
    guard let scheme = url.firstRange(of: "://") else { return nil }
    if location.hasPrefix("//") { return "\(url[..<scheme.lowerBound]):\(location)" }
    let end = url[scheme.upperBound...].firstIndex(of: "?") ?? url.endIndex
    let path = url[scheme.upperBound..<end].firstIndex(of: "/") ?? end
    if location.hasPrefix("/") { return url[..<path] + location }
    guard let slash = url[path..<end].lastIndex(of: "/") else {
      return "\(url[..<end])/\(location)"
    }
    return url[...slash] + location
  }
}
