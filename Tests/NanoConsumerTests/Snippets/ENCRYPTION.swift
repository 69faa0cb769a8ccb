import NanoStore

let key = EncryptionKey.passphrase("correct horse")
