import { ciFetch, CiKeyError, createClient, exchangeCiToken, hasCiToken, type PromiseClient } from "@delivery/client"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type CiIssuer, gitHubPublisher, startCiIssuer, startGitHubTokens } from "../../server/test/support/CiIssuer.ts"
import { type RunningServer, startServer } from "./support/server.ts"

/** Keys for jobs of a CI, at a real server, with an endpoint of tokens shaped like GitHub's. */

let issuer: CiIssuer
let tokens: Awaited<ReturnType<typeof startGitHubTokens>>
let server: RunningServer
let client: PromiseClient
let publisher: string
const params = { slug: "main" }
const workspace = "main"

beforeAll(async () => {
  issuer = await startCiIssuer()
  tokens = await startGitHubTokens(issuer)
  server = await startServer({ CI_ISSUERS: issuer.url })
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const payload = gitHubPublisher(issuer.url)
  publisher = (await client.trustedPublishers.create({ params, payload })).id
}, 240_000)

afterAll(async () => {
  await server.stop()
  await tokens.close()
  await issuer.close()
})

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error
  )

describe("a job of a CI", () => {
  it("has a token where GitHub or GitLab gave it one", () => {
    expect(hasCiToken({})).toBe(false)
    expect(hasCiToken({ ACTIONS_ID_TOKEN_REQUEST_URL: "https://example.com" })).toBe(false)
    expect(hasCiToken(tokens.environment)).toBe(true)
    expect(hasCiToken({ DELIVERY_ID_TOKEN: " " })).toBe(false)
    expect(hasCiToken({ DELIVERY_ID_TOKEN: "a.b.c" })).toBe(true)
  })

  it("gets a key of GitHub's token", async () => {
    const key = await exchangeCiToken({ baseUrl: `${server.url}/`, workspace, environment: tokens.environment })
    expect(key).toMatchObject({ role: "member", scopes: ["read", "publish"] })
    expect(tokens.audiences.at(-1)).toBe(server.url)
    await createClient({ baseUrl: server.url, apiKey: key.apiKey }).testRuns.list({ params })
  })

  it("gets a key of the first of GitLab's tokens that was not used", async () => {
    const [first, second] = [await issuer.token(server.url), await issuer.token(server.url)]
    const environment = { DELIVERY_ID_TOKEN: first, DELIVERY_ID_TOKEN_2: second }
    const options = { baseUrl: server.url, workspace, environment }
    const keys = [await exchangeCiToken(options), await exchangeCiToken(options)]
    expect(new Set(keys.map(({ apiKey }) => apiKey)).size).toBe(2)
    expect(await failure(exchangeCiToken(options))).toMatchObject({ status: 401, reason: "token_used" })
  })

  it("is told why it gets none", async () => {
    const refused = (environment: Record<string, string>) =>
      failure(exchangeCiToken({ baseUrl: server.url, workspace, environment }))
    const stranger = await issuer.token(server.url, { claims: { repository_id: "1" } })
    expect(await refused({ DELIVERY_ID_TOKEN: stranger })).toMatchObject({ status: 401, reason: "not_trusted" })
    const environment = { DELIVERY_ID_TOKEN: await issuer.token(server.url, { claims: { repository_id: "1" } }) }
    const fetch = ciFetch({ baseUrl: server.url, workspace, environment })
    const job = createClient({ baseUrl: server.url, apiKey: null, fetch })
    expect(await failure(job.testRuns.list({ params }))).toMatchObject({ _tag: "Unauthorized", reason: "not_trusted" })
    const none = await refused({})
    expect(none).toBeInstanceOf(CiKeyError)
    const wrong = await refused({ ...tokens.environment, ACTIONS_ID_TOKEN_REQUEST_TOKEN: "wrong" })
    expect(wrong).toMatchObject({ message: "GitHub gave the job no ID token (401)." })
  })

  it("calls with one key until that is over, whatever it calls at once", async () => {
    tokens.audiences.length = 0
    const sent: Array<string | null> = []
    const job = createClient({
      baseUrl: server.url,
      apiKey: null,
      fetch: ciFetch({
        baseUrl: server.url,
        workspace,
        environment: tokens.environment,
        fetch: async (input, init) => {
          const answer = await fetch(input, init)
          if (input instanceof Request && input.url.startsWith(server.url))
            sent.push(input.headers.get("authorization"))
          if (!String(input).endsWith("/v1/token-exchange")) return answer
          // As if the first key were almost over when it comes.
          const key = (await answer.json()) as { expiresAt: string }
          const expiresAt = tokens.audiences.length === 1 ? new Date().toISOString() : key.expiresAt
          return Response.json({ ...key, expiresAt })
        }
      })
    })
    await job.testRuns.list({ params })
    expect(tokens.audiences).toHaveLength(1)
    await Promise.all(Array.from({ length: 5 }, () => job.testRuns.list({ params })))
    expect(tokens.audiences).toHaveLength(2)
    expect(new Set(sent).size).toBe(2)
    await client.trustedPublishers.delete({ params: { ...params, publisher } })
    expect(await failure(job.testRuns.list({ params }))).toMatchObject({ _tag: "Unauthorized" })
  })
})
