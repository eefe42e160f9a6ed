import type { DecidedAuthorization } from "@delivery/domain/agents/Authorizations"
import type { Tokens } from "@delivery/domain/agents/OAuth"
import { createHash, randomBytes } from "node:crypto"
import { assert } from "vitest"
import { type Answer, type Http, signIn } from "../support/Http.ts"

/** Sign-ins by the server's URL for tests, over HTTP, as a client and a browser make them. */

export const claude = "https://claude.ai/oauth/claude-code-client-metadata"
export const callback = "http://localhost:53682/callback"

const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url")
export const newVerifier = (): string => randomBytes(32).toString("base64url")

/** A client on its way through a sign-in. */
export interface ClientOf {
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly state: string
}

export const newClient = (fields: Partial<ClientOf> = {}): ClientOf => ({
  clientId: claude,
  redirectUri: callback,
  verifier: newVerifier(),
  state: newVerifier(),
  ...fields
})

/** The query of a request for access. A field that is null is left out. */
export const authorizeQuery = (
  client: ClientOf = newClient(),
  fields: Readonly<Record<string, string | null>> = {}
): string => {
  const query = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    code_challenge: challengeOf(client.verifier),
    code_challenge_method: "S256",
    state: client.state,
    ...fields
  }
  const sent = Object.entries(query).filter((field): field is [string, string] => field[1] !== null)
  return `?${new URLSearchParams(sent).toString()}`
}

export const authorize = (http: Http, query: string) => http.as(undefined).send("GET", `/agent/oauth/authorize${query}`)

/** The id of a request for access that a person may decide about. */
export const askForAccess = async (
  http: Http,
  client: ClientOf = newClient(),
  fields: Readonly<Record<string, string | null>> = {}
): Promise<string> => {
  const answer = await authorize(http, authorizeQuery(client, fields))
  assert.strictEqual(answer.status, 303, answer.text)
  const location = answer.headers.location!
  const page = `${http.baseUrl}/authorize#`
  assert.isTrue(location.startsWith(page), location)
  return location.slice(page.length)
}

export const decide = (session: Http, id: string, json: unknown) =>
  session.send<DecidedAuthorization>("POST", `/auth/v1/authorizations/${id}`, { json })

/** The answer in a redirect. */
export const answerIn = (location: string, redirectUri = callback): Readonly<Record<string, string>> => {
  assert.isTrue(location.startsWith(`${redirectUri}?`), location)
  return Object.fromEntries(new URL(location).searchParams)
}

/** The code that the client gets where the person of a session lets it in. */
export const allow = async (
  session: Http,
  client: ClientOf,
  fields: { readonly scope?: string; readonly asked?: string } = {}
): Promise<string> => {
  const id = await askForAccess(session, client, fields.asked === undefined ? {} : { scope: fields.asked })
  const { scope } = fields
  const json = { allow: true, workspace: session.workspace, ...(scope === undefined ? {} : { scope }) }
  const answer = await decide(session, id, json)
  assert.strictEqual(answer.status, 200, answer.text)
  const { code, iss, state } = answerIn(answer.body.location, client.redirectUri)
  assert.deepStrictEqual([iss, state], [session.baseUrl, client.state])
  return code!
}

export const exchange = (
  http: Http,
  code: string,
  { clientId, redirectUri, verifier }: ClientOf,
  fields: Readonly<Record<string, string>> = {}
): Promise<Answer<Tokens>> =>
  http.as(undefined).send("POST", "/agent/oauth/token", {
    form: {
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...fields
    }
  })

/** A sign-in of a client by the server's URL, for the person. */
export const signInByUrl = async (
  person: Http & { readonly id: string },
  fields: Partial<ClientOf> & { readonly scope?: string } = {}
): Promise<Tokens & { readonly clientId: string }> => {
  const client = newClient(fields)
  const session = await signIn(person, person.id)
  const code = await allow(session, client, fields.scope === undefined ? {} : { scope: fields.scope })
  const answer = await exchange(person, code, client)
  assert.strictEqual(answer.status, 200, answer.text)
  return { ...answer.body, clientId: client.clientId }
}

/** A call of MCP, and what comes of it: a result, an error of the protocol, or the status of a refusal. */
export const callTool = async (
  http: Http,
  token: string,
  name: string,
  args: object = {}
): Promise<{ readonly status: number; readonly isError: boolean | undefined; readonly text: string }> => {
  const answer = await mcp(http, token, "tools/call", { name, arguments: args })
  const { result } = (answer.status === 200 ? answer.body : {}) as {
    readonly result?: { readonly isError?: boolean; readonly content: ReadonlyArray<{ readonly text: string }> }
  }
  return {
    status: answer.status,
    isError: result && result.isError === true,
    text: result?.content[0]?.text ?? answer.text
  }
}

/** The names of the tools that a token is shown. */
export const listTools = async (http: Http, token: string): Promise<ReadonlyArray<string>> => {
  const { body, status, text } = await mcp(http, token, "tools/list", {})
  assert.strictEqual(status, 200, text)
  const { result } = body as { readonly result: { readonly tools: ReadonlyArray<{ readonly name: string }> } }
  return result.tools.map(({ name }) => name).toSorted()
}

/** One request of the revision without sessions. */
const mcp = (http: Http, token: string, method: string, params: object) =>
  http.as(token).send("POST", "/agent/mcp", {
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...("name" in params ? { "mcp-name": String(params.name) } : {})
    },
    json: {
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" }
        }
      }
    }
  })
