// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Verdicts on JSON")
struct JSONVerdictTests {
  @Test("Each text is taken or refused as the table says, in both dialects")
  func parser() throws {
    for verdict in try JSONVerdict.all() {
      for dialect in [JSONDialect.plain, .extended] {
        let outcome = Result { try DocumentValue(json: verdict.bytes, dialect: dialect) }
        switch outcome {
        case .success: #expect(verdict.isAccepted, "\(verdict) is taken")
        case .failure(let error):
          #expect(!verdict.isAccepted, "\(verdict) is refused: \(error)")
          #expect((error as? StoreError)?.code == .invalidJSON, "\(verdict)")
          let place = (error as? StoreError)?[.byteOffset].flatMap { Int($0) }
          #expect(place.map { (0...verdict.bytes.count).contains($0) } == true, "\(verdict)")
        }
      }
    }
  }

  @Test("What must be accepted is, but for names that come twice; what must be refused is")
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

  @Test("A store keeps what is taken, and nothing of what is refused")
  func save() throws {
    let store = try anyStore()
    let values = store["values"]
    var kept = 0
    for verdict in try JSONVerdict.all() {
      // Text from outside is a String here, so that bytes which are none have no way in.
      guard let text = String(validating: verdict.inObject, as: UTF8.self) else { continue }
      let outcome = Result { try values.save(json: text, key: verdict.name) }
      switch outcome {
      case .success:
        kept += 1
        #expect(verdict.isAccepted, "\(verdict) is kept")
        let value = try DocumentValue(json: verdict.bytes)
        #expect(try values.get(verdict.name)?["v"] == value, "\(verdict)")
      case .failure(let error):
        #expect(!verdict.isAccepted, "\(verdict) is refused: \(error)")
        #expect((error as? StoreError)?.code == .invalidJSON, "\(verdict)")
        #expect(try values.get(verdict.name) == nil, "\(verdict) left something")
      }
    }
    #expect(try values.count() == kept)
    #expect(try store.verify().isEmpty)
  }
}
