import { auth, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens
} from "@modelcontextprotocol/sdk/shared/auth.js"
import { assert } from "vitest"
import { type Http, join, newWorkspace, onEachServer, signIn } from "../support/Http.ts"
import { answerIn, callback, claude, decide } from "./OAuthScene.ts"

/** The official SDK, which signs in with nothing but the URL of `/agent/mcp`. */

/** Whoever is at the browser, and what the client keeps. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl = callback
  readonly clientMetadata: OAuthClientMetadata = {
    redirect_uris: [callback],
    client_name: "SDK",
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"]
  }
  readonly clientMetadataUrl?: string
  asked: URL | undefined
  client: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  verifier = ""
  constructor(document: string | undefined) {
    if (document !== undefined) this.clientMetadataUrl = document
  }
  state = () => "the state"
  clientInformation = () => this.client
  saveClientInformation = (client: OAuthClientInformationMixed) => {
    this.client = client
  }
  tokens = () => this.kept
  saveTokens = (tokens: OAuthTokens) => {
    this.kept = tokens
  }
  redirectToAuthorization = (url: URL) => {
    this.asked = url
  }
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier
  }
  codeVerifier = () => this.verifier
}

/** What a browser does with the address that the client opens: the person lets the client in. */
const browse = async (session: Http, asked: URL) => {
  const answer = await session.as(undefined).send("GET", `${asked.pathname}${asked.search}`)
  assert.strictEqual(answer.status, 303, answer.text)
  const id = answer.headers.location!.split("#")[1]!
  const { body } = await decide(session, id, { allow: true, workspace: session.workspace })
  return answerIn(body.location)
}

const connectedBy = async (url: URL, authProvider: Provider) => {
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }))
  return client
}

onEachServer("The official SDK", (test) => {
  for (const [how, document] of [
    ["by registering itself", undefined],
    ["by its document", claude]
  ] as const) {
    test(`signs in by the server's URL, ${how}`, async (owner) => {
      const person = await join(await newWorkspace(owner), "member")
      const session = await signIn(person, person.id)
      const url = new URL("/agent/mcp", owner.baseUrl)
      const provider = new Provider(document)
      const refused = await connectedBy(url, provider).catch((error: unknown) => error)
      assert.instanceOf(refused, Error)
      assert.strictEqual(provider.asked?.searchParams.get("scope"), "read write")
      assert.strictEqual(provider.asked?.searchParams.get("resource"), url.href)
      const { code, iss, state } = await browse(session, provider.asked!)
      assert.deepStrictEqual([iss, state], [owner.baseUrl, "the state"])
      assert.strictEqual(await auth(provider, { serverUrl: url, authorizationCode: code! }), "AUTHORIZED")
      assert.strictEqual(provider.client?.client_id === claude, document === claude)
      const client = await connectedBy(url, provider)
      const { tools } = await client.listTools()
      assert.lengthOf(tools, 5)
      const { isError } = await client.callTool({ name: "whoami", arguments: {} })
      assert.notStrictEqual(isError, true)
      await client.close()
      // It refreshes by itself where its token no longer works.
      const first = provider.kept!
      provider.kept = { ...first, access_token: "atk_expired" }
      const again = await connectedBy(url, provider)
      assert.lengthOf((await again.listTools()).tools, 5)
      assert.notStrictEqual(provider.kept.refresh_token, first.refresh_token)
      await again.close()
    })
  }
})
