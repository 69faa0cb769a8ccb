let (file, server) = (try Store(.memory), try Store(.memory))
let films = server["films"]
