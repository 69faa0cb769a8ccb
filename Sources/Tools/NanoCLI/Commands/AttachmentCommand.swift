// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore

struct AttachmentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attachment",
    abstract: "Add, list, write out, rename and remove attachments of documents.",
    discussion: """
      An attachment is binary content beside a document, under a name. Equal content is stored \
      once. 'nanostore compact' deletes content that no document refers to.
      """,
    subcommands: [Add.self, List.self, Get.self, Rename.self, Remove.self],
    defaultSubcommand: List.self)

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Attach a file to a document; replaces the attachment with the same name.")

    @OptionGroup var document: AttachedDocument

    @Argument(help: "The file.", completion: .file())
    var file: String

    @Option(help: "The name; that of the file if omitted.")
    var name: String?

    @Option(name: .customLong("type"), help: "The media type, such as image/jpeg.")
    var contentType = Attachment.unknownContentType

    func run() throws {
      let name = name ?? URL(fileURLWithPath: file).lastPathComponent
      let added = try document.withAttachments(.changing) {
        try $0.add(.file(path: file), named: name, contentType: contentType)
      }
      try Output.run {
        try $0.line(TerminalText.text("attached \(name) (\(added.length) bytes, \(added.digest))"))
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the attachments of a document: name, bytes, media type and digest.")

    @OptionGroup var document: AttachedDocument

    func run() throws {
      let all = try document.withAttachments(.reading) { try $0.all() }
      try Output.run { output in
        for found in all {
          let attachment = found.attachment
          let columns = [
            found.name, "\(attachment.length)", attachment.contentType, attachment.digest,
          ]
          try output.line(columns.map { TerminalText.text($0) }.joined(separator: "\t"))
        }
      }
    }
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get",
      abstract: "Write an attachment to a file.")

    @OptionGroup var document: AttachedDocument

    @Argument(help: "The name.")
    var name: String

    @Argument(help: "The new file; '-' for the standard output.", completion: .file())
    var file: String

    @Flag(help: "Replace an existing file.")
    var replace = false

    func run() throws {
      try document.withAttachments(.reading) { attachments in
        guard let found = try attachments.get(name) else {
          throw CommandFailure(
            message: TerminalText.text("The document has no attachment '\(name)'"), status: 2)
        }
        let store = attachments.store
        guard file == "-" else { return try store.export(found, to: file, replacing: replace) }
        try Output.run { output in try store.each(of: found) { try output.write($0) } }
      }
    }
  }

  struct Rename: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rename",
      abstract: "Give an attachment another name.")

    @OptionGroup var document: AttachedDocument

    @Argument(help: "The name.")
    var name: String

    @Argument(help: "The new name; an attachment that has it is replaced.")
    var newName: String

    func run() throws {
      try document.withAttachments(.changing) { try $0.rename(name, to: newName) }
      try Output.run { try $0.line(TerminalText.text("renamed \(name) to \(newName)")) }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove an attachment from a document.",
      discussion: "The exit status is 2 if the document has no such attachment.")

    @OptionGroup var document: AttachedDocument

    @Argument(help: "The name.")
    var name: String

    func run() throws {
      guard try document.withAttachments(.changing, { try $0.remove(name) }) else {
        throw CommandFailure(
          message: TerminalText.text("The document has no attachment '\(name)'"), status: 2)
      }
      try Output.run { try $0.line(TerminalText.text("removed \(name)")) }
    }
  }
}

/// The document whose attachments a command uses.
struct AttachedDocument: ParsableArguments {
  @OptionGroup var target: CollectionOptions

  @Argument(help: "The key of the document; a row ID with --row-id.")
  var key: String

  @Flag(help: "Interpret the key as a row ID.")
  var rowID = false

  func withAttachments<Result>(
    _ access: DatabaseOptions.Access, _ work: (DocumentAttachments) throws -> Result
  ) throws -> Result {
    func run(_ collection: DocumentCollection) throws -> Result {
      guard rowID else { return try work(collection.attachments(of: key)) }
      return try work(collection.attachments(ofRowID: RowID.parse(key)))
    }
    guard access == .reading else { return try target.withExistingCollection(run) }
    return try target.withCollection(.reading, run)
  }
}
