import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { ExchangedKey, TrustedPublisher } from "@delivery/domain/identity/TrustedPublisher"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { gitHubPublisher, startCiIssuer } from "../support/CiIssuer.ts"
import { makeDatabase, query } from "../support/Databases.ts"
import { type Http, refusal } from "../support/Http.ts"
import { startServerOn } from "../support/SeveralServers.ts"

/** Tokens of CI at two servers of one PostgreSQL, all at once (docs/contract.md, Trusted publishers). */

const issuer = await startCiIssuer()
afterAll(issuer.close)

const baseUrl = "http://127.0.0.1:4000"
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

const withServers = (body: (at: Http, other: Http, url: string) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const environment = { CI_ISSUERS: issuer.url, BASE_URL: baseUrl, AUTH_FAILURE_LIMIT: "1000000/60" }
    const at = yield* startServerOn(url, environment)
    const other = yield* startServerOn(url, environment)
    yield* Effect.promise(() => body(at, other, url))
  }).pipe(Effect.scoped)

const exchange = (http: Http, token: string) =>
  http.as(undefined).send<ExchangedKey>("POST", "/v1/token-exchange", { json: { workspace: "main", token } })

const trust = (http: Http) => http.post<TrustedPublisher>("trusted-publishers", gitHubPublisher(issuer.url))

it.live("a token that is shown fifty times at once works once, whichever server is asked", () =>
  withServers(async (at, other, url) => {
    await trust(at)
    for (const round of times(3)) {
      const token = await issuer.token(baseUrl)
      const answers = await Promise.all(times(50).map((index) => exchange(index % 2 === 0 ? at : other, token)))
      const outcomes = answers.map(refusal)
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "200"),
        1,
        `round ${round}`
      )
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "401 token_used"),
        49
      )
      const { entries } = await at.get<AuditPage>("audit?action=token_exchanged&outcome=allowed")
      assert.lengthOf(entries, round + 1)
    }
    const rows = await query(url, "select token_hash from exchanged_tokens")
    assert.lengthOf(rows, 3)
  })
)

it.live("no key outlives a publisher that is deleted meanwhile", () =>
  withServers(async (at, other) => {
    for (const round of times(5)) {
      const { id } = await trust(at)
      const tokens = await Promise.all(times(20).map(() => issuer.token(baseUrl)))
      const [answers] = await Promise.all([
        Promise.all(tokens.map((token, index) => exchange(index % 2 === 0 ? at : other, token))),
        other.delete(`trusted-publishers/${id}`)
      ])
      for (const answer of answers) {
        if (answer.status !== 200) assert.strictEqual(refusal(answer), "401 not_trusted", `round ${round}`)
        else await at.as(answer.body.apiKey).refuse("401", "GET", "test-runs")
      }
    }
  })
)
