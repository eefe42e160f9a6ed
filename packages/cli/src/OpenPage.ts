import { Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/** The command that opens an address; BROWSER comes first, as in other tools. */
const opener = (): ReadonlyArray<string> => {
  const browser = process.env["BROWSER"]
  if (browser !== undefined && browser !== "") return [browser]
  if (process.platform === "darwin") return ["open"]
  return process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"]
}

/** Opens a page in a browser. Answers whether there was one: a machine without any prints the address alone. */
export const openPage = Effect.fnUntraced(function* (url: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  // The address is the service's word: nothing but a web page is opened.
  if (!/^https?:\/\//.test(url)) return false
  const [command = "", ...args] = opener()
  return yield* spawner.exitCode(ChildProcess.make(command, [...args, url])).pipe(
    Effect.map((code) => code === 0),
    Effect.orElseSucceed(() => false)
  )
})
