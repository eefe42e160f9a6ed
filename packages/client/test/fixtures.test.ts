import { createClient, type FixtureAccess } from "@delivery/client"
import { FixtureTokenError, verifyFixtureToken, type VerifyFixtureTokenOptions } from "@delivery/client/fixtures"
import { SignJWT, exportJWK, generateKeyPair } from "jose"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningServer, startServer } from "./support/server.ts"

/** Tokens of a real server, as a Fixture API verifies them. */

const audience = "https://staging.shop.example.com/fixtures"
const params = { slug: "main" }
const git = { branch: "main", sha: "9fceb02", dirty: false, subject: "Add the basket" }
const machine = { hostname: "ci-7", platform: "linux" }

let server: RunningServer
let workspace: string
let ofRun: FixtureAccess
let ofRetry: FixtureAccess

beforeAll(async () => {
  server = await startServer()
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({ params, payload: { slug: "staging", name: "S", class: "non-production" } })
  await client.deployments.create({
    params,
    payload: { product: "shop", environment: "staging", fixtureUrl: audience }
  })
  const selection = { coverage: null, folders: [], caseIds: [] }
  const run = await client.testRuns.start({
    params,
    payload: { product: "shop", environment: "staging", baseUrl: "https://shop.example.com", git, machine, selection }
  })
  const failed = { status: "failed", durationMs: 1, startedAt: "2026-11-21T09:30:10.000Z" } as const
  const test = { caseId: "a", title: "a", file: "a.spec.ts", coverage: "critical", testKind: "behavior" } as const
  await client.testRuns.finish({
    params: { ...params, run: run.number },
    payload: { interrupted: false, durationMs: 1, tests: [{ ...test, attempt: failed }] }
  })
  const retry = await client.retries.start({
    params: { ...params, run: run.number },
    payload: { passes: 1, baseUrl: null, git, machine }
  })
  workspace = (await client.workspaces.get({ params })).id
  if (run.fixture === null || retry.fixture === null) throw new Error("no access to fixtures")
  ofRun = run.fixture
  ofRetry = retry.fixture
}, 240_000)

afterAll(() => server.stop())

describe("verifyFixtureToken", () => {
  it("returns the claims of a run's or retry's token", async () => {
    const options = { issuer: `${server.url}/`, audience, workspace }
    const run = await verifyFixtureToken(`Bearer ${ofRun.token}`, options)
    expect(run).toEqual({
      scope: ofRun.scope,
      workspaceId: workspace,
      run: 1,
      retry: null,
      expiresAt: new Date(Math.floor(Date.parse(ofRun.expiresAt) / 1000) * 1000)
    })
    const several = { issuer: server.url, audience: ["https://other.example.com", audience], workspace }
    expect(await verifyFixtureToken(ofRetry.token, several)).toMatchObject({ scope: ofRetry.scope, run: 1, retry: 1 })
  })

  it("rejects invalid tokens, other audiences and other issuers", async () => {
    const issuer = server.url
    const options = { issuer, audience, workspace }
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" })
    const forged = await new SignJWT({ iss: issuer, aud: audience, sub: "w/1", scope: "run-1", exp: 9_999_999_999 })
      .setProtectedHeader({ alg: "EdDSA" })
      .sign(privateKey)
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${ofRun.token.split(".")[1]}.`
    for (const token of [undefined, null, "", "Bearer ", "x", "a.b.c", `${ofRun.token}x`, forged, unsigned]) {
      await expect(verifyFixtureToken(token, options)).rejects.toBeInstanceOf(FixtureTokenError)
    }
    const elsewhere = { issuer, audience: "https://other.example.com", workspace }
    await expect(verifyFixtureToken(ofRun.token, elsewhere)).rejects.toBeInstanceOf(FixtureTokenError)
    const keys = `${issuer}/.well-known/jwks.json`
    const other = { issuer: "https://delivery.example.com", audience, workspace, jwksUrl: keys }
    await expect(verifyFixtureToken(ofRun.token, other)).rejects.toBeInstanceOf(FixtureTokenError)
  })

  it("rejects the token that another workspace of the service got for the same Fixture API", async () => {
    const client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
    const other = await client.workspaces.create({ payload: { slug: "other", name: "Other" } })
    const params = { slug: other.slug }
    await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
    await client.environments.create({ params, payload: { slug: "staging", name: "S", class: "non-production" } })
    await client.deployments.create({
      params,
      payload: { product: "shop", environment: "staging", fixtureUrl: audience }
    })
    const { fixture } = await client.testRuns.start({
      params,
      payload: {
        product: "shop",
        environment: "staging",
        baseUrl: "https://shop.example.com",
        git,
        machine,
        selection: { coverage: null, folders: [], caseIds: [] }
      }
    })
    const verified = (workspace: string) =>
      verifyFixtureToken(fixture?.token, { issuer: server.url, audience, workspace })
    expect(await verified(other.id)).toMatchObject({ workspaceId: other.id, run: 1 })
    for (const workspace of [ofRun.scope, "main", ""]) {
      await expect(verified(workspace)).rejects.toBeInstanceOf(FixtureTokenError)
    }
    await expect(verified(workspace)).rejects.toThrow("another workspace")
  })

  it("rejects every token where the workspace is left out, which the types refuse", async () => {
    // @ts-expect-error Tokens of all workspaces would be accepted.
    const options: VerifyFixtureTokenOptions = { issuer: server.url, audience }
    await expect(verifyFixtureToken(ofRun.token, options)).rejects.toThrow("another workspace")
  })

  it("rejects expired or incomplete tokens, even with a valid signature", async () => {
    const { privateKey, publicKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" })
    const keys = createServer((_, response) => {
      void exportJWK(publicKey).then((key) => response.end(JSON.stringify({ keys: [{ ...key, alg: "EdDSA" }] })))
    }).listen(0, "127.0.0.1")
    await once(keys, "listening")
    const options = {
      issuer: server.url,
      audience,
      workspace: "w",
      jwksUrl: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/`
    }
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: server.url, aud: audience, sub: "w/1", scope: "run-1", exp: now + 60 }
    const verified = (fields: object) =>
      new SignJWT({ ...claims, ...fields })
        .setProtectedHeader({ alg: "EdDSA" })
        .sign(privateKey)
        .then((token) => verifyFixtureToken(token, options))
    expect(await verified({})).toMatchObject({ workspaceId: "w", run: 1, retry: null, scope: "run-1" })
    for (const fields of [
      { exp: now - 1 },
      { exp: undefined },
      { scope: undefined },
      { scope: 1 },
      { sub: undefined },
      { sub: "w" },
      { sub: "v/1" },
      { sub: "w/1/2/3" }
    ]) {
      await expect(verified(fields)).rejects.toBeInstanceOf(FixtureTokenError)
    }
    keys.closeAllConnections()
    keys.close()
  })

  it("fails with another error if the keys cannot be fetched", async () => {
    const options = { issuer: server.url, audience, workspace, jwksUrl: "http://127.0.0.1:9/jwks.json" }
    const failure = await verifyFixtureToken(ofRun.token, options).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(FixtureTokenError)
  })
})
