import { execFileSync } from "node:child_process"
import { join } from "node:path"

/** Builds the website before servers show it: one that is there already, of other sources, they would show until it is built. */
export default function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, "../build/build.ts")])
}
