// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

func attachments(_ store: Store, _ films: DocumentCollection, _ url: URL) async throws {
  try await films.attach(.file(url), named: "poster", contentType: "image/jpeg", to: "alien")
  try await films.attach(.data(Data()), named: "empty", to: "alien")
  let attachments = films.attachments(of: "alien")
  try await attachments.add(.file(path: "poster.jpg"), named: "poster", contentType: "image/jpeg")
  try await films.attachments(ofRowID: 1).add(.data(Data()), named: "empty")
  for found in try await attachments.all() { print(found.name, found.attachment.length) }
  print(try await attachments.get("poster")?.contentType ?? "")
  print(try await attachments.data("poster").count)
  print(try await attachments.data("poster", in: 0..<10).count)
  try await attachments.rename("poster", to: "cover")
  try await attachments.remove("cover")
}

func contents(_ store: Store, _ url: URL) async throws {
  let attachment = try await store.addAttachment(.file(url), contentType: "image/jpeg")
  print(try await store.data(of: attachment).count)
  print(try await store.data(of: attachment, in: 0..<10).count)
  try await store.export(attachment, to: "poster.jpg", replacing: true)
  try await store.compact(attachmentLease: .seconds(60))
}
