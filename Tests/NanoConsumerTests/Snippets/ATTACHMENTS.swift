import Foundation
import NanoStore

#if canImport(FoundationNetworking)
  import FoundationNetworking

  extension URLSession {
    func bytes(from url: URL) async throws -> (AsyncStream<UInt8>, Int) {
      (AsyncStream { $0.finish() }, 0)
    }
  }
#endif

struct Film: Codable {
  var title: String
  var poster: Attachment?
}

let store = try Store(.memory)
let films = store["films"]
let url = URL(fileURLWithPath: "poster.jpg")
let attachments = films.attachments(of: "alien")
