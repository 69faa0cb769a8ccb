// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import BenchmarkKit
@testable import nanobench

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct GrowthTests {
  @Test("Sizes ascend tenfold up to the largest")
  func sizes() {
    #expect(GrowthBench.sizes(upTo: 9_999) == [])
    #expect(GrowthBench.sizes(upTo: 1_000_000) == [10_000, 100_000, 1_000_000])
    #expect(GrowthBench.sizes(upTo: .max).last == 1_000_000_000_000_000_000)
  }

  @Test("The table has a column per size with the time of NanoStore and its ratio")
  func table() {
    #expect(
      report.table.markdown == """
        | operation | 10,000 documents | 100,000 documents |
        | --- | ---: | ---: |
        | scan all (lazy), per document | 200 (2.00) | 300 (1.50) |
        """)
  }

  @Test("The chart is well-formed XML with one line per operation")
  func chart() {
    let parser = XMLParser(data: Data(report.chart.svg.utf8))
    let counter = ElementCounter()
    parser.delegate = counter

    #expect(parser.parse())
    #expect(counter.counts["polyline"] == 1)
    #expect(counter.counts["circle"] == 2)
  }

  @Test("Places are spread by their logarithms, and values by their size")
  func points() {
    let chart = LineChart(
      title: "a < b", places: [10, 100, 1000],
      lines: [LineChart.Line(name: "one & two", values: [1, .nan, 2])])

    #expect(chart.svg.contains(#"points="96,168 656,48""#))
    #expect(chart.svg.contains(#"<text x="376" y="308" text-anchor="middle">100</text>"#))
    #expect(chart.svg.contains("a &lt; b"))
    #expect(chart.svg.contains("one &amp; two"))
  }

  @Test("A chosen variant is measured without the others")
  func chosen() {
    let scenario = ChosenVariant(
      base: ScanScenario(workload: Workload(documents: 1000)), variant: "models")

    #expect(scenario.ours.map(\.name) == ["models"])
    #expect(scenario.record == nil && scenario.others.isEmpty)
  }

  private var report: GrowthReport {
    GrowthReport(results: [result(10_000, 100, 200), result(100_000, 200, 300)])
  }

  private func result(_ documents: Int, _ raw: Double, _ ours: Double) -> RunResult {
    func variant(_ role: Role, _ name: String, _ time: Double) -> VariantResult {
      VariantResult(
        role: role, name: name, cpu: time, wall: time, ratio: time / raw, wallRatio: time / raw,
        target: nil, clock: .processor, cpuRounds: [time], wallRounds: [time])
    }
    return RunResult(
      machine: Machine(system: "Test", processors: 2, sqlite: "3.40.1"), documents: documents,
      rounds: 1,
      scenarios: [
        ScenarioResult(
          name: "scan", work: "scan all", unit: "document", operations: documents,
          variants: [variant(.raw, "raw", raw), variant(.ours, "lazy", ours)])
      ])
  }
}

private final class ElementCounter: NSObject, XMLParserDelegate {
  var counts: [String: Int] = [:]

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    counts[name, default: 0] += 1
  }
}
