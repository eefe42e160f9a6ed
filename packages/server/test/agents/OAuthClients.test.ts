import type { AuthorizationServerMetadata, RegisteredClient } from "@delivery/domain/agents/OAuth"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as oauth from "oauth4webapi"
import { maxRegistrations } from "../../src/agents/OAuthClients.ts"
import { OAuthClientsRepo } from "../../src/agents/OAuthClientsRepo.ts"
import { newId } from "../identity/Scene.ts"
import { assertId, type Http, onEachServer, refusal, withClockOnEachServer } from "../support/Http.ts"
import { onEachStorage } from "../support/Storages.ts"

/** Clients that register themselves (docs/contract.md, Agent sign-in). Each suite has a server, and so its network's hour. */

const path = "/agent/oauth/register"
const redirects = ["http://localhost/callback", "https://app.example/callback"]

const register = (http: Http, metadata: unknown) =>
  http.as(undefined).send<RegisteredClient>("POST", path, { json: metadata })

onEachServer("Registering a client", (test) => {
  test("answers what is kept of it, and never a secret", async (owner) => {
    const { body, headers, status } = await register(owner, {
      redirect_uris: [...redirects, redirects[0]],
      client_name: "  Zed\u202e ",
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token", "password"],
      logo_uri: "https://app.example/logo.png",
      scope: "admin"
    })
    assertId(body.client_id)
    assert.strictEqual(status, 201)
    assert.strictEqual(headers["cache-control"], "no-store")
    assert.deepStrictEqual(body, {
      client_id: body.client_id,
      client_id_issued_at: body.client_id_issued_at,
      client_name: "Zed\\u{202E}",
      redirect_uris: redirects,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    })
    assert.isTrue(Number.isInteger(body.client_id_issued_at))
    assert.strictEqual((await register(owner, { redirect_uris: redirects })).body.client_name, "Unnamed client")
  })

  test("is found by the metadata, and understood by a client by the book", async (owner) => {
    const issuer = new URL(owner.baseUrl)
    const insecure = { [oauth.allowInsecureRequests]: true }
    const discovered = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure })
    )
    assert.strictEqual(discovered.registration_endpoint, `${owner.baseUrl}${path}`)
    const metadata = await owner.get<AuthorizationServerMetadata>("/.well-known/oauth-authorization-server")
    assert.strictEqual(metadata.registration_endpoint, `${owner.baseUrl}${path}`)
    const response = await oauth.dynamicClientRegistrationRequest(
      discovered,
      { redirect_uris: redirects, client_name: "Book" },
      insecure
    )
    const client = await oauth.processDynamicClientRegistrationResponse(response)
    assert.deepStrictEqual([client.client_name, client.client_secret], ["Book", undefined])
  })

  test("refuses what is no client, in the words of RFC 7591, and counts none of it", async (owner) => {
    const refused = async (metadata: unknown) => refusal(await register(owner, metadata))
    for (const redirect_uris of [
      undefined,
      null,
      "https://app.example/callback",
      [],
      [1],
      Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`),
      ["https://app.example/callback", "http://app.example/callback"],
      ["javascript:alert(1)"],
      ["https://app.example/#"],
      ["https://user@app.example/"],
      ["myapp:/callback"]
    ]) {
      assert.strictEqual(await refused({ redirect_uris }), "400 invalid_redirect_uri", JSON.stringify(redirect_uris))
    }
    for (const fields of [
      { client_name: 1 },
      { grant_types: ["client_credentials"] },
      { grant_types: "authorization_code" },
      { response_types: ["token"] }
    ]) {
      const metadata = { redirect_uris: redirects, ...fields }
      assert.strictEqual(await refused(metadata), "400 invalid_client_metadata", JSON.stringify(fields))
    }
    for (const metadata of [[], null, "x", 1]) {
      assert.strictEqual(await refused(metadata), "400 invalid_client_metadata", JSON.stringify(metadata))
    }
    for (const [body, type] of [
      ["{", "application/json"],
      ["redirect_uris=https://app.example", "application/x-www-form-urlencoded"],
      [JSON.stringify({ redirect_uris: redirects, x: "x".repeat(64 * 1024) }), "application/json"]
    ] as const) {
      const answer = await owner.as(undefined).send("POST", path, { body, headers: { "content-type": type } })
      assert.strictEqual(refusal(answer), "400 invalid_request", type)
    }
    assert.strictEqual((await register(owner, { redirect_uris: redirects })).status, 201)
  })
})

withClockOnEachServer("The limit of registrations", (test) => {
  test("is 20 an hour from one network address, whoever asks", async (owner, advance) => {
    const statuses = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => (await register(owner, { redirect_uris: redirects })).status)
      )
    const first = await statuses(maxRegistrations + 5)
    assert.lengthOf(
      first.filter((status) => status === 201),
      maxRegistrations
    )
    const { headers, status } = await register(owner, { redirect_uris: redirects })
    assert.deepStrictEqual([status, Number(headers["retry-after"])], [429, 3_600])
    advance("61 minutes")
    assert.deepStrictEqual(await statuses(2), [201, 201])
  })
})

onEachStorage("OAuthClientsRepo", (it) => {
  it.effect("keeps clients, and forgets those that nobody used", () =>
    Effect.gen(function* () {
      const repo = yield* OAuthClientsRepo
      const day = (count: number) => timestamp(Date.UTC(2020, 0, count))
      const client = (createdAt: number, usedAt: number | null) => ({
        id: newId(),
        name: "Zed",
        redirectUris: redirects,
        createdAt: day(createdAt),
        usedAt: usedAt === null ? null : day(usedAt)
      })
      const [old, used, young, next] = [client(1, null), client(1, 2), client(3, null), client(4, null)]
      for (const one of [old, used, young]) yield* repo.insert(one, day(0))
      assert.deepStrictEqual(yield* repo.find(old.id), old)
      yield* repo.insert(next, day(1))
      assert.isUndefined(yield* repo.find(old.id))
      for (const one of [used, young, next]) assert.deepStrictEqual(yield* repo.find(one.id), one)
      assert.isUndefined(yield* repo.find(newId()))
    })
  )
})
