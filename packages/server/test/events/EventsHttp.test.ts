import type { Change, Event } from "@delivery/domain/events/Event"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import type { Me } from "@delivery/domain/identity/Me"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import { assert } from "vitest"
import {
  accept,
  accountKey,
  assertId,
  assertTimestamp,
  attempt,
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  report,
  runOf,
  startRun,
  unique
} from "../support/Http.ts"

/** The events of a workspace (docs/contract.md, Events). */

const events = async (http: Http) => (await http.get<{ events: ReadonlyArray<Event> }>("events")).events
const actorOf = async (http: Http) => {
  const me = await http.get<Me>("/v1/me")
  const { id, kind, name } = me
  return me.kind === "user" ? { kind, id, name, email: me.email } : { kind, id, name }
}

/** An event without its actor and time. */
interface ExpectedEvent {
  readonly kind: string
  readonly id: string
  readonly label: string
  /** Below the workspace's page. */
  readonly path: string
  readonly changes?: ReadonlyArray<Change>
}

/** Asserts that the caller's request records these events, the newest first, and no others. */
const assertRecorded = async <A>(
  by: Http,
  request: () => Promise<A>,
  expectedEvents: (answer: A) => ReadonlyArray<ExpectedEvent>
): Promise<A> => {
  const known = new Set((await events(by)).map(({ id }) => id))
  const before = Date.now()
  const answer = await request()
  const found = (await events(by)).filter(({ id }) => !known.has(id))
  const actor = await actorOf(by)
  const { slug } = await by.get<Workspace>("")
  const expected = expectedEvents(answer).map(({ changes = [], id, kind, label, path }, i) => ({
    id: found[i]?.id,
    kind,
    actor,
    subject: { type: kind.split("_")[0], id, label, url: `${by.baseUrl}/w/${slug}/${path}` },
    changes,
    createdAt: found[i]?.createdAt
  }))
  assert.deepStrictEqual<unknown>(found, expected)
  for (const { createdAt, id } of found) {
    assertId(id)
    assertTimestamp(createdAt)
    assert.isAtLeast(Date.parse(createdAt), before)
  }
  return answer
}

const noEvents = (): ReadonlyArray<ExpectedEvent> => []

onEachServer("events", (test) => {
  test("records the creation and changes of a workspace", async (owner) => {
    const slug = unique("acme")
    const made = await owner.post<Workspace>("/v1/workspaces", { slug, name: "Acme" })
    const workspace = owner.in(made.id)
    const [first, ...others] = await events(workspace)
    assert.isEmpty(others)
    assert.deepStrictEqual<unknown>(first, {
      id: first!.id,
      kind: "workspace_created",
      actor: await actorOf(owner),
      subject: { type: "workspace", id: made.id, label: "Acme", url: `${owner.baseUrl}/w/${slug}/settings` },
      changes: [],
      createdAt: first!.createdAt
    })
    const other = unique("acme")
    await assertRecorded(
      workspace,
      () => workspace.patch<Workspace>("", { name: "Acme Inc.", slug: other }),
      () => [
        {
          kind: "workspace_updated",
          id: made.id,
          label: "Acme Inc.",
          path: "settings",
          changes: [
            { field: "slug", from: slug, to: other },
            { field: "name", from: "Acme", to: "Acme Inc." }
          ]
        }
      ]
    )
    await assertRecorded(workspace, () => workspace.patch<Workspace>("", { name: "Acme Inc." }), noEvents)
  })

  test("records changes of members, invites, account keys and personal keys", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const sam = await join(workspace, "viewer")
    const path = "settings/members"
    const member = { id: sam.id, label: "Sam", path }
    await assertRecorded(
      admin,
      () => admin.patch(`members/${sam.id}`, { role: "member" }),
      () => [{ kind: "member_updated", ...member, changes: [{ field: "role", from: "viewer", to: "member" }] }]
    )
    await assertRecorded(admin, () => admin.patch(`members/${sam.id}`, { role: "member" }), noEvents)
    const act = (verb: string) => () => admin.post(`members/${sam.id}/${verb}`, undefined, 200)
    await assertRecorded(admin, act("deactivate"), () => [
      { kind: "member_deactivated", ...member, changes: [{ field: "active", from: "true", to: "false" }] }
    ])
    await assertRecorded(admin, act("deactivate"), noEvents)
    await assertRecorded(admin, act("reactivate"), () => [
      { kind: "member_reactivated", ...member, changes: [{ field: "active", from: "false", to: "true" }] }
    ])
    await assertRecorded(admin, act("reactivate"), noEvents)

    const email = `${unique("person")}@example.com`
    const changes = [{ field: "role", from: null, to: "viewer" }]
    const invite = () => admin.post<NewInvite>("invites", { email, role: "viewer" })
    const { id } = await assertRecorded(admin, invite, ({ id }) => [
      { kind: "invite_created", id, label: email, path, changes }
    ])
    const revoke = () => admin.post(`invites/${id}/revoke`, undefined, 200)
    await assertRecorded(admin, revoke, () => [{ kind: "invite_revoked", id, label: email, path }])
    await assertRecorded(admin, revoke, noEvents)
    const { apiKey, person } = await accept(workspace, "viewer", email, "Kim")
    const [joined, accepted] = await events(workspace.as(apiKey!.secret))
    const kim = { kind: "user", ...person } as const
    assert.deepInclude(accepted, { kind: "invite_accepted", actor: kim, changes: [] })
    assert.deepInclude(joined, { kind: "member_joined", actor: kim, changes })
    assert.deepInclude(joined!.subject, { type: "member", id: person.id, label: "Kim" })

    const key = await assertRecorded(
      admin,
      () => accountKey(admin, "member", "nightly"),
      ({ id }) => [
        {
          kind: "key_created",
          id,
          label: "nightly",
          path: "settings/api-keys",
          changes: [{ field: "role", from: null, to: "member" }]
        }
      ]
    )
    await assertRecorded(
      admin,
      () => admin.post(`account-api-keys/${key.id}/revoke`, undefined, 200),
      () => [{ kind: "key_revoked", id: key.id, label: "nightly", path: "settings/api-keys" }]
    )
    await assertRecorded(
      admin,
      () => admin.post<NewApiKey>("/v1/api-keys", { name: "laptop" }, 200),
      ({ id }) => [{ kind: "key_created", id, label: "laptop", path: "settings/api-keys" }]
    )
  })

  for (const [noun, path, body, more] of [
    ["product", "products", { slug: "shop", name: "Shop", type: "library" }, { type: "app", repository: "acme/shop" }],
    [
      "environment",
      "environments",
      { slug: "qa", name: "QA", class: "non-production" },
      { class: "production", emoji: "🧪" }
    ]
  ] as const) {
    test(`records the creation, changes, archiving and restoring of a ${noun}`, async (owner) => {
      const workspace = await newWorkspace(owner)
      const by = await accountKey(workspace, "admin", "terraform")
      const { id } = await assertRecorded(
        by,
        () => by.post<{ id: string }>(path, body),
        ({ id }) => [{ kind: `${noun}_created`, id, label: body.name, path: `${path}/${body.slug}` }]
      )
      const patch = () => by.patch(`${path}/${id}`, { slug: "new", name: "New", ...more })
      const subject = { id, label: "New", path: `${path}/new` }
      const before: Record<string, unknown> = body
      await assertRecorded(by, patch, () => [
        {
          kind: `${noun}_updated`,
          ...subject,
          changes: [
            { field: "slug", from: body.slug, to: "new" },
            { field: "name", from: body.name, to: "New" },
            ...Object.entries(more).map(([field, to]) => ({
              field,
              from: (before[field] ?? null) as string | null,
              to
            }))
          ]
        }
      ])
      await assertRecorded(by, patch, noEvents)
      const act = (verb: string) => () => by.post(`${path}/${id}/${verb}`, undefined, 200)
      await assertRecorded(by, act("restore"), noEvents)
      await assertRecorded(by, act("archive"), () => [{ kind: `${noun}_archived`, ...subject }])
      await assertRecorded(by, act("archive"), noEvents)
      await assertRecorded(by, act("restore"), () => [{ kind: `${noun}_restored`, ...subject }])
    })
  }

  test("records the creation, update and deletion of a deployment", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "member")
    await workspace.post("products", { slug: "shop", name: "Shop", type: "website" })
    await workspace.post("environments", { slug: "qa", name: "QA", class: "production" })
    const create = () =>
      sam.post<{ id: string }>("deployments", { product: "shop", environment: "qa", baseUrl: "https://a.example" })
    const { id } = await assertRecorded(sam, create, ({ id }) => [
      { kind: "deployment_created", id, label: "Shop in QA", path: "deployments/shop/qa" }
    ])
    const subject = { id, label: "Shop in QA", path: "deployments/shop/qa" }
    const patch = () => sam.patch("deployments/shop/qa", { version: "v2", fixtureUrl: "https://f.example" })
    await assertRecorded(sam, patch, () => [
      {
        kind: "deployment_updated",
        ...subject,
        changes: [
          { field: "fixtureUrl", from: null, to: "https://f.example" },
          { field: "version", from: null, to: "v2" }
        ]
      }
    ])
    await assertRecorded(sam, patch, noEvents)
    await assertRecorded(
      sam,
      () => sam.delete("deployments/shop/qa"),
      () => [{ kind: "deployment_deleted", ...subject, changes: [{ field: "version", from: "v2", to: null }] }]
    )
    const override = "The payment is down"
    const anew = () =>
      sam.post<{ id: string }>("deployments", {
        product: "shop",
        environment: "qa",
        baseUrl: "https://a.example",
        version: "v3",
        override
      })
    await assertRecorded(sam, anew, ({ id }) => [
      {
        kind: "deployment_created",
        ...subject,
        id,
        changes: [
          { field: "version", from: null, to: "v3" },
          { field: "override", from: null, to: override }
        ]
      }
    ])
    assert.deepInclude(
      (await sam.get<{ releases: ReadonlyArray<object> }>("deployments/shop/qa/history")).releases[0],
      { version: "v3", override }
    )
    await workspace.post("environments", { slug: "demo", name: "Demo", class: "non-production" })
    await assertRecorded(
      sam,
      () =>
        sam.refuse("400 override", "POST", "deployments", {
          product: "shop",
          environment: "demo",
          baseUrl: "https://a.example",
          override
        }),
      noEvents
    )
  })

  test("records the start and the end of a run", async (owner) => {
    const workspace = await newDeployment(owner)
    const key = await accountKey(workspace, "member")
    const ends = [
      [{}, "run_finished", { result: "passed", counts: "0 of 1 failed" }],
      [
        { tests: [report("a", { attempt: attempt("failed") })] },
        "run_finished",
        { result: "failed", counts: "1 of 1 failed" }
      ],
      [{ interrupted: true }, "run_interrupted", {}]
    ] as const
    for (const [i, [fields, kind, told]] of ends.entries()) {
      const number = i + 1
      const label = `Run ${number}`
      const path = `test-runs/${number}`
      const start = async () => {
        await startRun(key)
        return (await getRun(key, number)).id
      }
      const id = await assertRecorded(key, start, (id) => [{ kind: "run_started", id, label, path }])
      await assertRecorded(
        key,
        () => finishRun(key, number, fields),
        () => [
          {
            kind,
            id,
            label,
            path,
            changes: Object.entries<string>({ ...told, product: "Shop", environment: "Staging" }).map(
              ([field, to]) => ({
                field,
                from: null,
                to
              })
            )
          }
        ]
      )
      assert.strictEqual((await events(key))[0]!.subject.url, (await getRun(key, number)).url)
    }
  })

  test("records nothing for failed requests", async (owner) => {
    const workspace = await newDeployment(owner)
    const { id } = await owner.get<Me>("/v1/me")
    const { number } = await startRun(workspace)
    await finishRun(workspace, number)
    const viewer = await join(workspace, "viewer")
    const key = await accountKey(workspace, "member")
    await workspace.post(`account-api-keys/${key.id}/revoke`, undefined, 200)
    const product = { slug: "shop", name: "Shop", type: "website" }
    const pair = { product: "shop", environment: "staging", baseUrl: "https://a.example" }
    await assertRecorded(
      workspace,
      async () => {
        await workspace.refuse("409 slug_in_use", "POST", "products", product)
        await workspace.refuse("400 type", "PATCH", "products/shop", { type: null })
        await viewer.refuse("403 role_too_low", "PATCH", "products/shop", { name: "Mine" })
        await workspace.refuse("409 deployment_exists", "POST", "deployments", pair)
        await workspace.refuse("409 last_owner", "POST", `members/${id}/deactivate`)
        await workspace.refuse("409 not_running", "POST", `test-runs/${number}/finish`, {
          interrupted: false,
          durationMs: 1,
          tests: []
        })
        await workspace.refuse("404 product:", "POST", "test-runs", runOf({ product: "none" }))
        await workspace.refuse("404 account API key", "POST", `account-api-keys/${key.id}/revoke`)
      },
      noEvents
    )
  })

  test("lists the 50 newest events of the workspace, newest first, for every role", async (owner) => {
    const [workspace, other] = [await newDeployment(owner), await newDeployment(owner)]
    for (let i = 1; i <= 60; i++) await workspace.patch("deployments/shop/staging", { version: `v${i}` })
    const viewer = await join(workspace, "viewer")
    const found = await events(viewer)
    assert.lengthOf(found, 50)
    const versions = found.filter(({ kind }) => kind === "deployment_updated").map(({ changes }) => changes[0]!.to)
    assert.deepStrictEqual(
      found.slice(0, 3).map(({ kind }) => kind),
      ["member_joined", "invite_accepted", "invite_created"]
    )
    assert.deepStrictEqual(
      versions,
      Array.from({ length: 47 }, (_, i) => `v${60 - i}`)
    )
    const times = found.map(({ createdAt }) => createdAt)
    assert.deepStrictEqual(times, times.toSorted().toReversed())

    const seen = await events(other)
    assert.deepStrictEqual(
      seen.map(({ kind }) => kind),
      ["deployment_created", "environment_created", "product_created", "workspace_created"]
    )
    await viewer.in(other.workspace).refuse("404 workspace", "GET", "events")
  })

  test("shows actors by their current name, and subjects as they were", async (owner) => {
    const workspace = await newDeployment(owner)
    const key = await accountKey(workspace, "member", "nightly")
    await key.patch("deployments/shop/staging", { version: "v1" })
    await workspace.patch("products/shop", { name: "Web shop" })
    await workspace.post(`account-api-keys/${key.id}/revoke`, undefined, 200)
    const updated = (await events(workspace)).find(({ kind }) => kind === "deployment_updated")!
    assert.deepStrictEqual(updated.actor, { kind: "apiKey", id: key.id, name: "nightly" })
    assert.strictEqual(updated.subject.label, "Shop in Staging")
  })
})
