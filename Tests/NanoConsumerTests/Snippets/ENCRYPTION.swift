import NanoStoreModels

@Model struct Note {
  var text: String
}

let key = EncryptionKey.passphrase("correct horse")
