// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// A chart with a logarithmic horizontal axis, as an SVG image.
struct LineChart {
  struct Line {
    let name: String
    /// One value for each place; NaN if there is none.
    let values: [Double]
  }

  let title: String
  /// The positions on the horizontal axis, ascending and greater than 0.
  let places: [Double]
  let lines: [Line]

  private static let size = (width: 720.0, height: 440.0)
  private static let plot = (left: 56.0, top: 48.0, width: 640.0, height: 240.0)
  /// Distinguishable with common color vision deficiencies (Okabe and Ito).
  private static let colors = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]

  var svg: String {
    let frame = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.size.width.svg) \
      \(Self.size.height.svg)" font-family="sans-serif" font-size="12" fill="#222">
      <rect width="100%" height="100%" fill="#fff"/>
      <text x="\(Self.plot.left.svg)" y="26" font-size="15">\(title.escaped)</text>
      """
    return ([frame] + grid + labels + lines.indices.flatMap(drawing) + ["</svg>"])
      .joined(separator: "\n") + "\n"
  }

  /// A whole number above every value.
  private var top: Double {
    max(2, (lines.flatMap(\.values).filter(\.isFinite).max() ?? 0).rounded(.up))
  }

  /// At most six lines, at whole numbers.
  private var grid: [String] {
    let step = max(1, (top / 6).rounded(.up))
    return stride(from: 0, through: top, by: step).map { value in
      let height = y(value).svg
      let right = (Self.plot.left + Self.plot.width).svg
      return """
        <line x1="\(Self.plot.left.svg)" y1="\(height)" x2="\(right)" y2="\(height)" stroke="#ddd"/>
        <text x="\((Self.plot.left - 8).svg)" y="\((y(value) + 4).svg)" text-anchor="end">\(value.svg)</text>
        """
    }
  }

  private var labels: [String] {
    let height = (Self.plot.top + Self.plot.height + 20).svg
    return places.map { place in
      let text = Int(place).groupedText
      return "<text x=\"\(x(place).svg)\" y=\"\(height)\" text-anchor=\"middle\">\(text)</text>"
    }
  }

  /// The line with a number, its points, and its entry in the legend.
  private func drawing(_ number: Int) -> [String] {
    let color = Self.colors[number % Self.colors.count]
    let points = zip(places, lines[number].values).filter { $1.isFinite }
      .map { (x: x($0).svg, y: y($1).svg) }
    let path = points.map { "\($0.x),\($0.y)" }.joined(separator: " ")
    let legend = Self.plot.top + Self.plot.height + 44 + Double(number) * 18
    return [
      "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>"
    ]
      + points.map { "<circle cx=\"\($0.x)\" cy=\"\($0.y)\" r=\"3.5\" fill=\"\(color)\"/>" }
      + [
        """
        <rect x="\(Self.plot.left.svg)" y="\((legend - 9).svg)" width="14" height="4" fill="\(color)"/>
        <text x="\((Self.plot.left + 22).svg)" y="\((legend - 2).svg)">\(lines[number].name.escaped)</text>
        """
      ]
  }

  private func x(_ place: Double) -> Double {
    guard let first = places.first, let last = places.last, last > first else {
      return Self.plot.left + Self.plot.width / 2
    }
    // The labels of the first and last place are centered on them.
    let margin = 40.0
    let part = (log(place) - log(first)) / (log(last) - log(first))
    return Self.plot.left + margin + part * (Self.plot.width - 2 * margin)
  }

  private func y(_ value: Double) -> Double {
    Self.plot.top + Self.plot.height * (1 - value / top)
  }
}

extension Double {
  /// At most one fractional digit, with a period in every locale.
  fileprivate var svg: String {
    let tenths = (self * 10).rounded() / 10
    return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
  }
}

extension String {
  fileprivate var escaped: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
