import NanoStore

let (library, archive) = (try Store(.memory), try Store(.memory))
