import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { startServer } from "../support/ServerProcess.ts"

/** `@modelcontextprotocol/conformance` against `/agent/mcp` of a server of its own. */

export const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const
export type Revision = (typeof revisions)[number]

export interface Check {
  readonly scenario: string
  readonly id: string
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  readonly errorMessage?: string
}

/** What the suite misses, by the ids of its checks, and why it is none of the service's. */
export const notApplicable: ReadonlyArray<{ readonly reason: string; readonly checks: ReadonlyArray<string> }> = [
  {
    reason: "calls tools that the suite's example server has, by name",
    checks: [
      "tools-call-simple-text",
      "tools-call-image",
      "tools-call-audio",
      "tools-call-embedded-resource",
      "tools-call-mixed-content",
      "tools-call-error",
      "tools-call-with-logging",
      "tools-call-with-progress",
      "json-schema-2020-12-tool-found",
      "sep-2243-server-no-xmcp-tool",
      "sep-2243-server-decode-base64",
      "sep-2243-server-validate-param-match",
      "sep-2243-server-reject-invalid-param-chars",
      "sep-2243-server-reject-param-mismatch",
      "sep-2575-server-rejects-undeclared-capability",
      "sep-2575-missing-capability-http-400",
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel"
    ]
  },
  {
    reason: "sampling, elicitation and roots: the service asks nothing of its clients",
    checks: [
      "tools-call-sampling",
      "tools-call-elicitation",
      "elicitation-sep1034-general",
      "elicitation-sep1330-general",
      "sep-2322-elicitation-incomplete",
      "sep-2322-sampling-incomplete",
      "sep-2322-list-roots-incomplete",
      "sep-2322-request-state-incomplete",
      "sep-2322-multiple-inputs-incomplete",
      "sep-2322-multi-round-r1",
      "sep-2322-missing-response-rerequests",
      "sep-2322-non-tool-incomplete",
      "sep-2322-result-type-included",
      "sep-2322-reject-tampered-state",
      "sep-2322-respect-client-capabilities",
      "sep-2322-ignore-unexpected-params"
    ]
  },
  {
    reason: "resources: the suite reads those of its example server, and the service has no subscriptions",
    checks: [
      "resources-read-text",
      "resources-read-binary",
      "resources-templates-read",
      "resources-subscribe",
      "resources-unsubscribe"
    ]
  },
  {
    reason: "prompts and completions: the service has none",
    checks: [
      "prompts-list",
      "prompts-get-simple",
      "prompts-get-with-args",
      "prompts-get-embedded-resource",
      "prompts-get-with-image",
      "completion-complete",
      "sep-2549-prompts-list-caching-hints"
    ]
  }
]

/** Why a check that did not succeed is not applicable; undefined where it is. */
export const reasonOf = ({ id }: Check): string | undefined =>
  notApplicable.find(({ checks }) => checks.includes(id))?.reason

export const isFinding = ({ status }: Check): boolean => status === "FAILURE" || status === "WARNING"

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")
const { bin, version } = JSON.parse(readFileSync(manifest, "utf8")) as {
  readonly bin: { readonly conformance: string }
  readonly version: string
}
/** The command of the suite. */
export const tool = join(dirname(manifest), bin.conformance)
export const suiteVersion = version

/** Adds the access token, which the tool cannot send. */
const startFront = async () => {
  let target = ""
  let token = ""
  const front = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
    const passed = request(new URL(incoming.url!, target), { method: incoming.method!, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    passed.on("error", () => answer.destroy())
    incoming.pipe(passed)
  })
  front.listen(0, "127.0.0.1")
  await once(front, "listening")
  const { port } = front.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    pass: (to: string, accessToken: string) => {
      target = to
      token = accessToken
    },
    stop: () => {
      front.closeAllConnections()
      front.close()
    }
  }
}

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

const post = async <A>(url: string, key: string | undefined, body: object): Promise<A> => {
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
  }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as A
}

/** A member of the server's workspace signs an agent in. */
const signIn = async (baseUrl: string): Promise<string> => {
  const path = `${baseUrl}/v1/workspaces/main`
  const { token } = await post<{ token: string }>(`${path}/invites`, apiKey, {
    email: "ana@example.com",
    role: "member"
  })
  const joined = { token, name: "Ana" }
  const { apiKey: own } = await post<{ apiKey: { secret: string } }>(`${baseUrl}/v1/invites/accept`, undefined, joined)
  const client = { client: "claude", computer: "laptop" }
  return (await post<{ access_token: string }>(`${path}/agents/register`, own.secret, client)).access_token
}

/** What the suite finds in a revision. */
const runSuite = async (url: string, revision: Revision): Promise<ReadonlyArray<Check>> => {
  const output = mkdtempSync(join(tmpdir(), "delivery-conformance-"))
  try {
    const args = [
      tool,
      "server",
      "--url",
      `${url}/agent/mcp`,
      "--suite",
      "all",
      "--spec-version",
      revision,
      "-o",
      output
    ]
    const child = spawn(process.execPath, args, { stdio: "ignore", timeout: 60_000 })
    await once(child, "exit")
    return readdirSync(output).flatMap((directory) => {
      const checks = JSON.parse(readFileSync(join(output, directory, "checks.json"), "utf8")) as ReadonlyArray<Check>
      const scenario = directory.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "")
      return checks.map(({ errorMessage, id, status }) => ({
        scenario,
        id,
        status,
        ...(errorMessage === undefined ? {} : { errorMessage })
      }))
    })
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
}

/** What the suite finds in each revision, of a new server on the embedded database. */
export const runConformance = async (): Promise<ReadonlyMap<Revision, ReadonlyArray<Check>>> => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-conformance-data-"))
  const front = await startFront()
  const settings = { DATA_DIR: dataDir, BASE_URL: front.url, BOOTSTRAP_API_KEY: apiKey, LOG_LEVEL: "warn" }
  const server = await startServer(settings)
  try {
    front.pass(server.baseUrl, await signIn(server.baseUrl))
    const results = new Map<Revision, ReadonlyArray<Check>>()
    for (const revision of revisions) results.set(revision, await runSuite(front.url, revision))
    return results
  } finally {
    front.stop()
    await server.end("SIGTERM")
    rmSync(dataDir, { recursive: true, force: true })
  }
}
