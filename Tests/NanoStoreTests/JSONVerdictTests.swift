// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("JSON verdicts")
struct JSONVerdictTests {
  @Test("Each text is accepted or rejected as listed, in both dialects")
  func parser() throws {
    for verdict in try JSONVerdict.all() {
      for dialect in [JSONDialect.plain, .extended] {
        let outcome = Result { try DocumentValue(json: verdict.bytes, dialect: dialect) }
        switch outcome {
        case .success: #expect(verdict.isAccepted, "\(verdict) is accepted")
        case .failure(let error):
          #expect(!verdict.isAccepted, "\(verdict) is rejected: \(error)")
          #expect((error as? StoreError)?.code == .invalidJSON, "\(verdict)")
          let offset = (error as? StoreError)?[.byteOffset].flatMap { Int($0) }
          #expect(offset.map { (0...verdict.bytes.count).contains($0) } == true, "\(verdict)")
        }
      }
    }
  }

  @Test("Valid JSON is accepted except for duplicate names, and invalid JSON is rejected")
  func table() throws {
    let verdicts = try JSONVerdict.all()
    #expect(verdicts.filter { $0.name.hasPrefix("y_") }.count == 95)
    #expect(verdicts.filter { $0.name.hasPrefix("i_") }.count == 35)
    for verdict in verdicts {
      switch verdict.name.prefix(2) {
      case "y_": #expect(verdict.isAccepted || verdict.name.contains("duplicated_key"))
      case "n_": #expect(!verdict.isAccepted)
      default: #expect(verdict.reason != nil, "\(verdict) has no reason")
      }
    }
  }

  @Test("A store contains accepted documents, and nothing of rejected ones")
  func save() throws {
    let store = try anyStore()
    let values = store["values"]
    var stored = 0
    for verdict in try JSONVerdict.all() {
      // JSON text is passed as a String, so invalid UTF-8 cannot occur.
      guard let text = String(validating: verdict.inObject, as: UTF8.self) else { continue }
      let outcome = Result { try values.save(json: text, key: verdict.name) }
      switch outcome {
      case .success:
        stored += 1
        #expect(verdict.isAccepted, "\(verdict) is stored")
        let value = try DocumentValue(json: verdict.bytes)
        #expect(try values.get(verdict.name)?["v"] == value, "\(verdict)")
      case .failure(let error):
        #expect(!verdict.isAccepted, "\(verdict) is rejected: \(error)")
        #expect((error as? StoreError)?.code == .invalidJSON, "\(verdict)")
        #expect(try values.get(verdict.name) == nil, "\(verdict) left a document")
      }
    }
    #expect(try values.count() == stored)
    #expect(try store.verify().isEmpty)
  }
}
