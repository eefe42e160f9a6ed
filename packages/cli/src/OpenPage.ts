import { Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/** The command that opens an address; BROWSER comes first, as in other tools. */
const opener = (): ReadonlyArray<string> => {
  const browser = process.env["BROWSER"]
  if (browser !== undefined && browser !== "") return [browser]
  if (process.platform === "darwin") return ["open"]
  return process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"]
}

/**
 * Whether this computer has a browser in front of its user: not where they are elsewhere (SSH), and on Linux only with a
 * display. BROWSER says that there is one.
 */
export const hasBrowser = (
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform
): boolean => {
  const isSet = (name: string) => (environment[name] ?? "") !== ""
  if (isSet("BROWSER")) return true
  if (isSet("SSH_CONNECTION")) return false
  return platform !== "linux" || isSet("DISPLAY") || isSet("WAYLAND_DISPLAY")
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
