// SPDX-License-Identifier: MIT

/// A snapshot of the database, valid only inside the block that received it and on that block's thread.
package protocol EngineReader: EngineDocumentReader, EngineCatalogReader, EngineTuningReader,
  EngineFeedReader, EngineBlobReader, EngineExpiryReader
{}
