import NanoStore
