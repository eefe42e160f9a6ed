import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { resolve } from "node:path"

/** Servers of checkouts of this and earlier versions, and what is asked of them over HTTP. */

export type Json = Readonly<Record<string, never>>
export type Settings = Readonly<Record<string, string>>

export const mainOf = (checkout: string): string => {
  const found = ["packages/server/src/cli/main.ts", "packages/server/src/main.ts"].map((path) =>
    resolve(checkout, path)
  )
  return found.find((path) => existsSync(path))!
}

/** Runs a server while `use` does. */
export const withServer = async <A>(checkout: string, settings: Settings, use: () => Promise<A>): Promise<A> => {
  const environment = { PATH: process.env["PATH"], LOG_LEVEL: "warn", ...settings }
  const child = spawn(process.execPath, [mainOf(checkout), "serve"], { cwd: checkout, env: environment })
  const ended = once(child, "exit")
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  try {
    for (;;) {
      const isReady = await fetch(`http://127.0.0.1:${settings["PORT"]}/ready`).then(
        ({ ok }) => ok,
        () => false
      )
      if (isReady) break
      if (child.exitCode !== null) throw new Error(output)
      await new Promise((resume) => setTimeout(resume, 50))
    }
    return await use()
  } finally {
    child.kill("SIGTERM")
    await ended
  }
}

export const key = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

export class Client {
  readonly #baseUrl: string
  readonly #token: string | undefined
  constructor(port: string, token: string | undefined) {
    this.#baseUrl = `http://127.0.0.1:${port}`
    this.#token = token
  }
  async #send(method: string, path: string, body?: unknown, type = "application/json") {
    const url = this.#baseUrl + (path.startsWith("/") ? path : `/v1/workspaces/main/${path}`)
    const headers = {
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(body === undefined ? {} : { "content-type": type })
    }
    const content = body === undefined ? null : type === "application/json" ? JSON.stringify(body) : String(body)
    const answer = await fetch(url, { method, headers, body: content })
    const text = await answer.text()
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return { status: answer.status, text, type: answer.headers.get("content-type") ?? "" }
  }
  async get(path: string): Promise<unknown> {
    const { text, type } = await this.#send("GET", path)
    return type.startsWith("application/json") ? JSON.parse(text) : text
  }
  async post<A = Json>(path: string, body?: unknown): Promise<A> {
    const { text } = await this.#send("POST", path, body)
    return (text === "" ? undefined : JSON.parse(text)) as A
  }
  patch = (path: string, body: unknown) => this.#send("PATCH", path, body)
  put = (path: string, body: unknown, type?: string) => this.#send("PUT", path, body, type)
  delete = (path: string) => this.#send("DELETE", path)
}

/** This checkout. */
export const here = resolve(import.meta.dirname, "../../../..")

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Where `after` does not hold what `before` did. A field that only `after` has is an addition and goes into `added`. */
export const differences = (
  before: unknown,
  after: unknown,
  path: string,
  added: Set<string>
): ReadonlyArray<string> => {
  if (isRecord(before) && isRecord(after)) {
    for (const name of Object.keys(after)) if (!(name in before)) added.add(name)
    return Object.keys(before).flatMap((name) => differences(before[name], after[name], `${path} ${name}`, added))
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((inner, index) => differences(inner, after[index], `${path} ${index}`, added))
  }
  const [was, is] = [JSON.stringify(before), JSON.stringify(after)]
  return was === is ? [] : [`${path}: ${was} became ${is}`]
}
