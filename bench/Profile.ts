import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A profile as `node --cpu-prof` writes it: times are microseconds. */
interface Profile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

/** Whose a function is. What V8 and Node have in C++ has no file: writes to sockets count with it, waits of them too. */
const ownerOf = ({ functionName, url }: Profile["nodes"][number]["callFrame"]): string => {
  if (functionName === "(garbage collector)") return "garbage collection"
  if (/^write|^shutdown$/.test(functionName) && url === "") return "writes to sockets"
  if (url === "" || functionName === "(program)") return "other native code"
  if (url.includes("node:internal/crypto") || url === "node:crypto") return "Node: cryptography"
  if (url.startsWith("node:")) return "Node: HTTP, streams and sockets"
  if (url.includes("@effect/sql-pg") || /\/effect\/(dist|src)\/sql\//.test(url)) return "client of PostgreSQL"
  if (/\/effect\/(dist|src)\/(http|http-api)\/|@effect\/platform-node/.test(url)) return "Effect: HTTP"
  if (/\/effect\/(dist|src)\/(internal\/)?(s|S)chema/.test(url) || !url.startsWith("file:")) return "schemas"
  if (url.includes("/node_modules/")) return "Effect: fibers, contexts and the rest"
  return "the service"
}

/** Percent of the time that a process did not idle, by whose function ran, most first; of the second half of a profile. */
export const shares = (directory: string): ReadonlyArray<readonly [owner: string, percent: number]> => {
  const profiles = readdirSync(directory).map(
    (name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as Profile
  )
  // A server has a thread or two beside its own, which do little.
  const { nodes, samples, timeDeltas } = profiles.toSorted((a, b) => b.nodes.length - a.nodes.length)[0]!
  const frames = new Map(nodes.map(({ callFrame, id }) => [id, callFrame]))
  const times = new Map<string, number>()
  let total = 0
  samples.forEach((id, index) => {
    const frame = frames.get(id)!
    if (index < samples.length / 2 || frame.functionName === "(idle)") return
    total += timeDeltas[index]!
    times.set(ownerOf(frame), (times.get(ownerOf(frame)) ?? 0) + timeDeltas[index]!)
  })
  return Array.from(times, ([owner, time]) => [owner, (time * 100) / total] as const).toSorted((a, b) => b[1] - a[1])
}
