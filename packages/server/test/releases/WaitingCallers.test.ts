import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import { assert } from "vitest"
import {
  eventually,
  finishRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refusal,
  signIn,
  startRun
} from "../support/Http.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Access that ends while a change of a deployment waits for a locked run (docs/contract.md, Order of checks). */

const path = "deployments/shop/staging"

const change = async (by: Http, version: string) => {
  const answer = await by.send("PATCH", path, { json: { version, waitMs: 30_000 } })
  return answer.status === 200 ? "200" : refusal(answer)
}

onEachServer(
  "Changes of a deployment that wait for a locked run",
  (test) => {
    test("are made by nobody who has lost access meanwhile", async (owner) => {
      const workspace = await newDeployment(owner)
      const [person, gone, demoted] = [
        await join(workspace, "member"),
        await join(workspace, "member"),
        await join(workspace, "member")
      ]
      const newKey = async (name: string) => person.post<NewApiKey>("/v1/api-keys", { name }, 200)
      const [revoked, blocked] = [await newKey("revoked"), await newKey("blocked")]
      const session = await signIn(workspace, person.id)
      const run = await startRun(workspace, { locked: true })
      const callers = [workspace.as(revoked.secret), workspace.as(blocked.secret), session, gone, demoted, person]
      const answers = callers.map((by, index) => change(by, `v${index}`))
      await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value("delivery_release_waiters") === callers.length
      )
      await person.post(`/v1/api-keys/${revoked.id}/revoke`, undefined, 200)
      await workspace.post(`credentials/${blocked.id}/block`, undefined, 200)
      await session.delete("/auth/v1/session")
      await workspace.post(`members/${gone.id}/deactivate`, undefined, 200)
      await workspace.patch(`members/${demoted.id}`, { role: "viewer" })
      await finishRun(workspace, run.number)
      assert.deepStrictEqual(await Promise.all(answers), [
        "401",
        "404 workspace",
        "401",
        "404 workspace",
        "403 role_too_low",
        "200"
      ])
      const { releases } = await workspace.get<{ releases: ReadonlyArray<Pick<Deployment, "version">> }>(
        `${path}/history`
      )
      assert.deepStrictEqual(
        releases.map(({ version }) => version),
        ["v5"]
      )
    })

    test("are made by no deployment token that has ended meanwhile", async (owner) => {
      const workspace = await newDeployment(owner)
      const newToken = (name: string) => workspace.post<NewDeploymentToken>(`${path}/tokens`, { name })
      const [ended, works] = [await newToken("ended"), await newToken("works")]
      const run = await startRun(workspace, { locked: true })
      const answers = [ended, works].map(async ({ token }, index) => {
        const json = { version: `v${index}`, waitMs: 30_000 }
        const answer = await workspace.as(token).send("PUT", "/deploy/v1/version", { json })
        return answer.status === 200 ? "200" : refusal(answer)
      })
      await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value("delivery_release_waiters") === answers.length
      )
      await workspace.post(`${path}/tokens/${ended.id}/revoke`, undefined, 200)
      await finishRun(workspace, run.number)
      assert.deepStrictEqual(await Promise.all(answers), ["401", "200"])
    })
  },
  { METRICS: "true" }
)
