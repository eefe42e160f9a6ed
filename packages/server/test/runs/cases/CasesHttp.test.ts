import type { CasePage, CaseWithResults, RunErrors, Trends } from "@delivery/domain/runs/Case"
import { errorGroupOf } from "@delivery/domain/runs/ErrorGroups"
import { Duration } from "effect"
import { assert } from "vitest"
import {
  attempt,
  eventually,
  finishRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  report,
  runOf,
  startRun,
  withClockOnEachServer
} from "../../support/Http.ts"

/** Tests over time over HTTP (docs/contract.md, Tests over time). */

const publish = async (workspace: Http, tests: ReadonlyArray<ReturnType<typeof report>>, branch = "main") => {
  const { number } = await startRun(workspace, { git: { ...runOf().git, branch } })
  await finishRun(workspace, number, { tests })
  return number
}

const fails = (caseId: string, errorMessage: string) => report(caseId, { attempt: attempt("failed", { errorMessage }) })

/** The case, once the run is counted. */
const counted = (workspace: Http, caseId: string, run: number) =>
  eventually(
    async () => (await workspace.send<CaseWithResults>("GET", `products/shop/cases/${caseId}`)).body,
    ({ results }) => results?.[0]?.run === run
  )

onEachServer("Tests over time", (test) => {
  test("a case is shown with its results soon after its run has finished", async (owner) => {
    const workspace = await newDeployment(owner)
    const one = await publish(workspace, [report("a/b.spec.ts:1 › x"), report("b")])
    const two = await publish(workspace, [fails("a/b.spec.ts:1 › x", "Expected 200")], "feature")
    const encoded = encodeURIComponent("a/b.spec.ts:1 › x")
    const found = await counted(workspace, encoded, two)
    const { finishedAt, git } = await workspace.get<{ finishedAt: string; git: { sha: string } }>(`test-runs/${two}`)
    const failure = { run: two, commit: git.sha, at: finishedAt }
    const { results, ...shown } = found
    assert.deepStrictEqual(shown, {
      caseId: "a/b.spec.ts:1 › x",
      title: "a/b.spec.ts:1 › x",
      file: "a/b.spec.ts:1 › x.spec.ts",
      coverage: "acceptance",
      testKind: "behavior",
      states: ["failing"],
      firstFailure: failure,
      lastFailure: failure,
      failingSince: failure,
      flakeRate: 0,
      passRate: 0.5,
      durationP50Ms: 12.5,
      durationP95Ms: 12.5,
      muted: null,
      ticket: null
    })
    assert.deepStrictEqual(results[0], {
      run: two,
      environment: { slug: "staging", name: "Staging", class: "non-production" },
      commit: git.sha,
      branch: "feature",
      status: "failed",
      attempts: 1,
      durationMs: 12.5,
      errorGroup: errorGroupOf("Expected 200"),
      at: finishedAt
    })
    assert.deepStrictEqual(
      results.map(({ run, status }) => [run, status]),
      [
        [two, "failed"],
        [one, "passed"]
      ]
    )
    const viewer = await join(workspace, "viewer")
    // Slashes as they are, or encoded; by slug or id; in its environment.
    const unencoded = encoded.replaceAll("%2F", "/")
    assert.deepStrictEqual(await viewer.get(`products/shop/cases/${unencoded}?environment=staging`), found)
    assert.lengthOf((await viewer.get<CaseWithResults>(`products/shop/cases/${encoded}?before=${two}`)).results, 1)
    const { cases, nextCursor } = await viewer.get<CasePage>("products/shop/cases")
    assert.deepStrictEqual([cases.map(({ caseId }) => caseId), nextCursor], [["a/b.spec.ts:1 › x", "b"], null])
    const failing = await viewer.get<CasePage>("products/shop/cases?state=failing&q=SPEC&environment=staging")
    assert.deepStrictEqual(failing.cases, [shown])
    assert.deepStrictEqual((await viewer.get<CasePage>("products/shop/cases?q=a/B&results=1")).cases, [
      { ...shown, results: [{ run: two, status: "failed", durationMs: 12.5 }] }
    ])
    for (const results of [0, 31, "x"]) {
      assert.strictEqual((await viewer.send("GET", `products/shop/cases?results=${results}`)).status, 400)
    }
    assert.deepStrictEqual((await viewer.get<CasePage>("products/shop/cases?state=muted")).cases, [])
  })

  test("errors of a run are new or known", async (owner) => {
    const workspace = await newDeployment(owner)
    const first = await publish(workspace, [fails("a", "Expected 1"), fails("b", "gone"), report("c")])
    await counted(workspace, "a", first)
    const second = await publish(workspace, [fails("a", "Expected 22"), fails("b", "lost"), fails("c", "Expected 3")])
    const { errors } = await workspace.get<RunErrors>(`test-runs/${second}/errors`)
    assert.deepStrictEqual(errors, [
      {
        id: errorGroupOf("Expected 1"),
        message: "Expected 22",
        count: 2,
        state: "new",
        cases: [
          { caseId: "a", title: "a", state: "known", ticket: null },
          { caseId: "c", title: "c", state: "new", ticket: null }
        ]
      },
      {
        id: errorGroupOf("lost"),
        message: "lost",
        count: 1,
        state: "new",
        cases: [{ caseId: "b", title: "b", state: "new", ticket: null }]
      }
    ])
    const { number: running } = await startRun(workspace)
    assert.deepStrictEqual(await workspace.get<RunErrors>(`test-runs/${running}/errors`), { errors: [] })
    await workspace.refuse("404 test run", "GET", "test-runs/4711/errors")
    await workspace.refuse("404 test run", "GET", "test-runs/x/errors")
  })

  test("lists go on with their cursor, by title", async (owner) => {
    const workspace = await newDeployment(owner)
    const tests = Array.from({ length: 230 }, (_, n) => report(`case-${n}`, { title: `Case ${n % 115} é: 100%` }))
    const run = await publish(workspace, tests)
    await counted(workspace, "case-0", run)
    const found: Array<string> = []
    const sizes: Array<number> = []
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: CasePage = await workspace.get(
        `products/shop/cases?state=passing${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
      )
      found.push(...page.cases.map(({ caseId }) => caseId))
      sizes.push(page.cases.length)
      cursor = page.nextCursor
    }
    assert.deepStrictEqual(sizes, [100, 100, 30])
    const expected = Array.from({ length: 115 }, (_, n) => [`case-${n}`, `case-${n + 115}`].toSorted()).flat()
    assert.deepStrictEqual(found, expected)
  })

  test("what does not exist or is malformed is refused", async (owner) => {
    const workspace = await newDeployment(owner)
    const run = await publish(workspace, [report("a")])
    await counted(workspace, "a", run)
    const list = "products/shop/cases"
    await workspace.refuse("404 product", "GET", "products/none/cases")
    await workspace.refuse("404 product", "GET", "products/none/cases/a")
    await workspace.refuse("404 product", "GET", "products/none/trends")
    for (const path of [list, `${list}/a`, "products/shop/trends"]) {
      await workspace.refuse("404 environment:", "GET", `${path}?environment=none`)
    }
    await workspace.post("environments", { slug: "other", name: "Other", class: "production" })
    await workspace.refuse("404 case", "GET", `${list}/a?environment=other`)
    for (const caseId of ["none", "%2F", "a/", "A", "%00", "a%20", "x".repeat(600)]) {
      await workspace.refuse("404 case", "GET", `${list}/${caseId}`)
    }
    assert.deepStrictEqual(await workspace.get<CasePage>(`${list}?environment=other`), { cases: [], nextCursor: null })
    for (const [query, at] of [
      ["state=red", "state"],
      ["state=", "state"],
      ["q=", "q"],
      ["environment=", "environment"],
      ["cursor=", "cursor"],
      ["cursor=12", "cursor"]
    ] as const) {
      await workspace.refuse(`400 ${at}`, "GET", `${list}?${query}`)
    }
    for (const query of ["before=0", "before=x", "before="]) {
      await workspace.refuse("400 before", "GET", `${list}/a?${query}`)
    }
    for (const [query, at] of [
      ["from=2026-02-30", "from"],
      ["to=tomorrow", "to"],
      ["from=2026-02-02&to=2026-02-01", ""],
      ["from=2025-01-01&to=2026-01-02", ""]
    ] as const) {
      await workspace.refuse(`400 ${at}`.trim(), "GET", `products/shop/trends?${query}`)
    }
  })

  test("results of a run that is deleted are gone soon, and its day is as before", async (owner) => {
    const workspace = await newDeployment(owner)
    const one = await publish(workspace, [report("a"), fails("b", "gone")])
    await counted(workspace, "b", one)
    const two = await publish(workspace, [fails("a", "lost")])
    await counted(workspace, "a", two)
    const trends = () => workspace.get<Trends>("products/shop/trends")
    const before = await eventually(trends, ({ days }) => days.at(-1)!.runs === 2)
    await workspace.delete(`test-runs/${two}`)
    // Its results are gone at once, what they came to soon.
    const { body: found } = await eventually(
      () => workspace.send<CaseWithResults>("GET", "products/shop/cases/a"),
      ({ body }) => body.states.includes("passing")
    )
    assert.deepStrictEqual([found.firstFailure, found.results.map(({ run }) => run)], [null, [one]])
    await workspace.delete(`test-runs/${one}`)
    await eventually(
      () => workspace.send("GET", "products/shop/cases/b"),
      ({ status }) => status === 404
    )
    assert.deepStrictEqual(await trends(), before)
    assert.deepStrictEqual(before.days.at(-1), {
      date: new Date().toISOString().slice(0, 10),
      runs: 2,
      passRate: 1 / 3,
      firstAttemptPassRate: 1 / 3,
      flaky: 0,
      durationP50Ms: 12.5,
      durationP95Ms: 12.5
    })
  })
})

withClockOnEachServer("Tests over time", (test) => {
  test("trends have every day, and what days count moves on by itself", async (owner, advance) => {
    const workspace = await newDeployment(owner)
    const until = async <A>(ask: () => Promise<A>, isDone: (answer: A) => boolean): Promise<A> => {
      for (;;) {
        const answer = await ask()
        if (isDone(answer)) return answer
        // A round waits for its next step by the clock of the server.
        advance("1 second")
      }
    }
    const run = await publish(workspace, [fails("a", "Expected 1"), report("b", { attempt: null })])
    const get = () => workspace.send<CaseWithResults>("GET", "products/shop/cases/a")
    const { body: found } = await until(get, ({ status }) => status === 200)
    const day = found.results[0]!.at.slice(0, 10)
    const trends = (query = "") => workspace.get<Trends>(`products/shop/trends${query}`)
    await until(trends, ({ days }) => days.at(-1)!.runs === 1)
    const { days } = await trends(`?from=${day}&to=${day}`)
    assert.deepStrictEqual(days, [
      {
        date: day,
        runs: 1,
        passRate: 0,
        firstAttemptPassRate: 0,
        flaky: 0,
        durationP50Ms: 12.5,
        durationP95Ms: 12.5
      }
    ])
    assert.lengthOf((await trends()).days, 30)
    const after = (count: number) =>
      new Date(Date.parse(day) + count * Duration.toMillis("1 day")).toISOString().slice(0, 10)
    advance("29 days")
    assert.deepStrictEqual((await get()).body.states, ["failing"])
    assert.strictEqual((await trends()).days[0]!.runs, 1)
    advance("1 day")
    const later = (await get()).body
    assert.deepStrictEqual([later.states, later.failingSince, later.passRate, later.flakeRate], [[], null, null, null])
    assert.strictEqual(later.lastFailure?.run, run)
    assert.deepStrictEqual((await workspace.get<CasePage>("products/shop/cases?state=failing")).cases, [])
    assert.lengthOf((await workspace.get<CasePage>("products/shop/cases")).cases, 1)
    assert.strictEqual((await trends()).days[0]!.runs, 0)
    // From a day on up to today; up to a day, from 29 days before it; a year from a day long ago.
    const spanOf = async (query: string) => {
      const { days } = await trends(query)
      return [days[0]!.date, days.at(-1)!.date, days.length]
    }
    assert.deepStrictEqual(await spanOf(`?from=${day}`), [day, after(30), 31])
    assert.deepStrictEqual(await spanOf(`?to=${day}`), [after(-29), day, 30])
    assert.deepStrictEqual(await spanOf("?from=2020-01-01"), ["2020-01-01", "2020-12-31", 366])
    assert.deepStrictEqual(await spanOf("?from=9999-12-31"), ["9999-12-31", "9999-12-31", 1])
    assert.deepStrictEqual(await spanOf("?from=2024-01-01&to=2024-12-31"), ["2024-01-01", "2024-12-31", 366])
  })
})
