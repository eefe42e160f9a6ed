import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

/** Loaded into a process (`--import`), it has that write without ever waiting for the disk, as the embedded database once did. */
fs.fsyncSync = () => {}
syncBuiltinESMExports()
