import type { Workspace } from "@delivery/domain/identity/Workspace"
import type { ReleasePage } from "@delivery/domain/releases/Release"
import type { TestRunPage } from "@delivery/domain/runs/TestRun"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { afterAll, assert } from "vitest"
import {
  eventually,
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  startRun,
  withClockOnEachServer
} from "../../support/Http.ts"
import { blobsBelow } from "../Scene.ts"

/** Retention and deletion of runs over HTTP (docs/contract.md, Retention of runs). */

const put = async (workspace: Http, run: number, path: string) => {
  const { status } = await workspace.send("PUT", `test-runs/${run}/files/${path}`, { body: "content" })
  assert.strictEqual(status, 201)
}

const fileStatus = async (workspace: Http, run: number, path: string) =>
  (await workspace.send("GET", `test-runs/${run}/files/${path}`)).status

/** A finished run with a file. */
const publish = async (workspace: Http) => {
  const { number } = await startRun(workspace)
  await put(workspace, number, "a.txt")
  await finishRun(workspace, number)
  return number
}

const numbers = async (workspace: Http) =>
  (await workspace.get<TestRunPage>("test-runs")).runs.map(({ number }) => number)

const DATA_DIR = mkdtempSync(joinPath(tmpdir(), "delivery-retention-"))
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }))

onEachServer(
  "Deletion of runs",
  (test, server) => {
    test("a deleted run is gone, with its files, and its number with it", async (owner) => {
      const workspace = await newDeployment(owner, { version: "v1" })
      const [member, admin] = [await join(workspace, "member"), await join(workspace, "admin")]
      const number = await publish(workspace)
      const history = () => workspace.get<ReleasePage>("deployments/shop/staging/history")
      const { releases } = await history()
      assert.deepStrictEqual(releases[0]!.runs, { passed: 1, failed: 0 })
      await member.refuse("403 role_too_low", "DELETE", `test-runs/${number}`)
      await admin.refuse("404 test run", "DELETE", "test-runs/4711")
      await admin.refuse("404 test run", "DELETE", "test-runs/first")
      await admin.delete(`test-runs/${number}`)
      await admin.refuse("404 test run", "GET", `test-runs/${number}`)
      await admin.refuse("404 test run", "DELETE", `test-runs/${number}`)
      assert.strictEqual(await fileStatus(workspace, number, "a.txt"), 404)
      assert.deepStrictEqual(await numbers(workspace), [])
      assert.deepStrictEqual((await history()).releases, releases)
      const { events } = await workspace.get<{ events: ReadonlyArray<{ kind: string; subject: { label: string } }> }>(
        "events?kinds=run_deleted"
      )
      assert.deepStrictEqual(
        events.map(({ kind, subject }) => [kind, subject.label]),
        [["run_deleted", `Run ${number}`]]
      )
      assert.strictEqual((await startRun(workspace)).number, number + 1)
    })

    test("what runs is not deleted", async (owner) => {
      const workspace = await newDeployment(owner)
      const { number } = await startRun(workspace)
      await workspace.refuse("409 running", "DELETE", `test-runs/${number}`)
      assert.strictEqual((await getRun(workspace, number)).state, "running")
      await finishRun(workspace, number)
      await workspace.delete(`test-runs/${number}`)
    })

    test("a workspace says for how many days it keeps runs and files", async (owner) => {
      const workspace = await newWorkspace(owner)
      assert.deepInclude(await workspace.get<Workspace>(""), { runDays: null, fileDays: null })
      const changed = await workspace.patch<Workspace>("", { runDays: 90, fileDays: 0.5 })
      assert.deepInclude(changed, { runDays: 90, fileDays: 0.5 })
      assert.deepStrictEqual(await workspace.get<Workspace>(""), changed)
      assert.deepInclude(await workspace.patch<Workspace>("", { runDays: null }), { runDays: null, fileDays: 0.5 })
      for (const runDays of [0, -1, 36_500.5, "90"]) await workspace.refuse("400 runDays", "PATCH", "", { runDays })
      const admin = await join(workspace, "admin")
      await admin.patch<Workspace>("", { fileDays: 7 })
      const member = await join(workspace, "member")
      await member.refuse("403 role_too_low", "PATCH", "", { fileDays: 8 })
      const { events } = await workspace.get<{ events: ReadonlyArray<{ changes: ReadonlyArray<unknown> }> }>(
        "events?kinds=workspace_updated"
      )
      assert.deepStrictEqual(events[0]!.changes, [{ field: "fileDays", from: "0.5", to: "7" }])
    })

    if (server !== "memory") {
      test("the blobs of a deleted run are gone soon", async (owner) => {
        const workspace = await newDeployment(owner)
        const number = await publish(workspace)
        const blobs = () => blobsBelow(joinPath(DATA_DIR, "files")).length
        const before = blobs()
        await workspace.delete(`test-runs/${number}`)
        // By a round of the retention and one of the sweeper, which this asks for neither.
        await eventually(
          async () => blobs(),
          (count) => count < before
        )
      })
    }
  },
  { DATA_DIR }
)

withClockOnEachServer(
  "Retention of runs",
  (test) => {
    test("runs and files go by their age, and what the workspace says wins", async (owner, advance) => {
      const usual = await newDeployment(owner)
      const longer = await newDeployment(owner)
      await longer.patch<Workspace>("", { runDays: 60, fileDays: 20 })
      const [a, b] = [await publish(usual), await publish(longer)]
      const { number: running } = await startRun(usual)
      // No time passes while a round waits for its next step: so it is put forward until the round has come.
      const until = async (ask: () => Promise<boolean>) => {
        while (!(await ask())) advance("1 minute")
      }
      advance("5 days")
      await until(async () => (await getRun(usual, running)).state === "interrupted")
      assert.deepStrictEqual([await fileStatus(usual, a, "a.txt"), await fileStatus(longer, b, "a.txt")], [200, 200])
      advance("3 days")
      await until(async () => (await fileStatus(usual, a, "a.txt")) === 404)
      assert.strictEqual((await getRun(usual, a)).tests.length, 1)
      assert.strictEqual(await fileStatus(longer, b, "a.txt"), 200)
      advance("20 days")
      await until(async () => (await fileStatus(longer, b, "a.txt")) === 404)
      assert.deepStrictEqual([await numbers(usual), await numbers(longer)], [[2, 1], [1]])
      advance("3 days")
      await until(async () => (await numbers(usual)).length === 0)
      assert.deepStrictEqual(await numbers(longer), [1])
      await longer.patch<Workspace>("", { runDays: null })
      await until(async () => (await numbers(longer)).length === 0)
      assert.strictEqual(await publish(usual), 3)
    })
  },
  { RUN_DAYS: "30", FILE_DAYS: "7.5" }
)
