// SPDX-License-Identifier: MIT

import NanoStoreCore

/// A type that contains references to attachments, whose fields conditions can use.
protocol AttachmentHolder {}
extension Attachment: AttachmentHolder {}
extension Optional: AttachmentHolder where Wrapped: AttachmentHolder {}
extension Array: AttachmentHolder where Element == Attachment {}

extension FieldTable {
  /// The fields of a reference to an attachment, which is not a model but `Codable`.
  static let ofAttachments = FieldTable([
    ModelField<Attachment>("digest", \Attachment.digest, \Attachment?.?.digest),
    ModelField<Attachment>("length", \Attachment.length, \Attachment?.?.length),
    ModelField<Attachment>("content_type", \Attachment.contentType, \Attachment?.?.contentType),
  ])
}
