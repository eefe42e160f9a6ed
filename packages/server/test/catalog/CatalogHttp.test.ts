import { Deployment } from "@delivery/domain/catalog/Deployment"
import type { Environment } from "@delivery/domain/catalog/Environment"
import type { Product } from "@delivery/domain/catalog/Product"
import { assert } from "vitest"
import { unset } from "./Rows.ts"
import {
  accountKey,
  assertId,
  assertTimestamp,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  refusal
} from "../support/Http.ts"

/** Products, environments and deployments (docs/contract.md, Catalog; Deployments). */

type Archivable = Product | Environment

/** Products and environments follow the same rules. */
const rooms = [
  {
    noun: "product",
    path: "products",
    body: { slug: "shop", name: "Shop", type: "website" },
    defaults: { baseBranch: "main" },
    optional: {
      field: "repository",
      value: "acme/shop",
      others: ["acme/s_h.o-p", "a/b"],
      wrong: ["acme", "a/b/c", "", " a/b", 1]
    },
    choice: { field: "type", values: ["website", "api", "app", "library", "service"] }
  },
  {
    noun: "environment",
    path: "environments",
    body: { slug: "staging", name: "Staging", class: "non-production" },
    defaults: { approvals: false },
    optional: { field: "emoji", value: "🧪", others: ["🏴‍☠️"], wrong: ["", " ", "x".repeat(17), 1] },
    choice: { field: "class", values: ["production", "non-production"] }
  }
] as const

const product = { slug: "shop", name: "Shop", type: "library" }
const environment = { slug: "staging", name: "Staging", class: "non-production" }

const deployments = async (http: Http, query = "") =>
  (await http.get<{ deployments: ReadonlyArray<Deployment> }>(`deployments${query}`)).deployments

/** The answer to a change, which must be later than the one before. */
const later = async <A extends { readonly updatedAt: string }>(before: A, change: Promise<A>): Promise<A> => {
  const after = await change
  assert.isAbove(Date.parse(after.updatedAt), Date.parse(before.updatedAt))
  return after
}

onEachServer("the catalog room", (test) => {
  for (const { body, choice, defaults, noun, optional, path } of rooms) {
    const list = async (http: Http, query = "") => {
      const body = await http.get<Record<string, ReadonlyArray<Archivable>>>(path + query)
      assert.deepStrictEqual(Object.keys(body), [path])
      return body[path]!
    }

    test(`answers a new ${noun} as GET does, by slug and by id`, async (owner) => {
      const workspace = await newWorkspace(owner)
      const created = await workspace.post<Archivable>(path, {
        ...body,
        name: ` ${body.name} `,
        unknown: true,
        id: "mine"
      })
      const { createdAt, id } = created
      assert.deepStrictEqual<unknown>(created, {
        id,
        ...body,
        [optional.field]: null,
        ...defaults,
        archived: false,
        archivedAt: null,
        createdAt,
        updatedAt: createdAt
      })
      assertId(id)
      assertTimestamp(createdAt)
      assert.deepStrictEqual(await workspace.get<Archivable>(`${path}/${body.slug}`), created)
      assert.deepStrictEqual(await workspace.get<Archivable>(`${path}/${id}`), created)
      assert.deepStrictEqual(await list(await join(workspace, "viewer")), [created])
      for (const missing of ["none", "Shop", "0197a1b2-0000-7000-8000-000000000001", id.toUpperCase()]) {
        await workspace.refuse(`404 ${noun}`, "GET", `${path}/${missing}`)
      }
    })

    test(`validates the fields of a new ${noun}`, async (owner) => {
      const workspace = await newWorkspace(owner)
      for (const [i, value] of [...choice.values].entries()) {
        await workspace.post(path, { ...body, slug: `kind-${i}`, [choice.field]: value })
      }
      for (const [i, value] of [optional.value, ...optional.others, null].entries()) {
        const made = await workspace.post<Record<string, unknown>>(path, {
          ...body,
          slug: `x-${i}`,
          [optional.field]: value
        })
        assert.strictEqual(made[optional.field], value)
      }
      for (const value of optional.wrong) {
        await workspace.refuse(`400 ${optional.field}`, "POST", path, { ...body, [optional.field]: value })
      }
      for (const value of ["boat", "", null, 1]) {
        await workspace.refuse(`400 ${choice.field}`, "POST", path, { ...body, [choice.field]: value })
      }
      for (const slug of ["", "Shop", "a--b", "a".repeat(61)]) {
        await workspace.refuse("400 slug", "POST", path, { ...body, slug })
      }
      for (const name of ["", " ", "x".repeat(101)]) {
        await workspace.refuse("400 name", "POST", path, { ...body, name })
      }
      for (const field of Object.keys(body)) {
        await workspace.refuse(`400 ${field}`, "POST", path, { ...body, [field]: undefined })
      }
      await workspace.refuse("400", "POST", path, [])
      await workspace.post(path, { ...body, slug: "a".repeat(60), name: "x".repeat(100) })
    })

    test(`lists ${noun}s by name: numbers as numbers, case last, then code units, then id`, async (owner) => {
      const workspace = await newWorkspace(owner)
      const names = ["shop 10", "Shop 9", "shop 9", "Zoo", "äpfel", "apfel", "Same", "Same", "a", "B"]
      for (const [i, name] of names.entries())
        await workspace.post(path, { ...body, slug: `s-${names.length - i}`, name })
      const listed = await list(workspace)
      assert.deepStrictEqual(
        listed.map(({ name, slug }) => [name, slug]),
        [
          ["a", "s-2"],
          ["apfel", "s-5"],
          ["äpfel", "s-6"],
          ["B", "s-1"],
          ["Same", "s-4"],
          ["Same", "s-3"],
          ["Shop 9", "s-9"],
          ["shop 9", "s-8"],
          ["shop 10", "s-10"],
          ["Zoo", "s-7"]
        ]
      )
      await Promise.all(
        Array.from({ length: 110 }, (_, i) => workspace.post(path, { ...body, slug: `n-${i}`, name: `n ${i}` }))
      )
      const numbered = (await list(workspace)).filter(({ slug }) => slug.startsWith("n-")).map(({ name }) => name)
      assert.deepStrictEqual(
        numbered,
        Array.from({ length: 110 }, (_, i) => `n ${i}`)
      )
    })

    test(`changes only the fields of a ${noun} that are sent`, async (owner) => {
      const workspace = await newWorkspace(owner)
      const before = await workspace.post<Archivable>(path, { ...body, [optional.field]: optional.value })
      const at = `${path}/${before.id}`
      const patched = (json: object) => workspace.patch<Archivable>(at, json)
      const named = await later(before, patched({ name: " New name ", unknown: 1, archived: true, id: "x" }))
      assert.deepStrictEqual(named, { ...before, name: "New name", updatedAt: named.updatedAt })
      const cleared = await later(named, patched({ [optional.field]: null }))
      assert.deepStrictEqual<unknown>(cleared, { ...named, [optional.field]: null, updatedAt: cleared.updatedAt })
      const moved = await later(cleared, patched({ slug: "moved", [choice.field]: choice.values[1] }))
      assert.deepStrictEqual<unknown>(moved, {
        ...cleared,
        slug: "moved",
        [choice.field]: choice.values[1],
        updatedAt: moved.updatedAt
      })
      assert.deepStrictEqual(await patched({}), moved)
      assert.deepStrictEqual(await patched({ slug: "moved" }), moved)
      await workspace.refuse(`404 ${noun}`, "GET", `${path}/${body.slug}`)
      assert.deepStrictEqual(await workspace.get<Archivable>(`${path}/moved`), moved)
      for (const json of [{ name: "" }, { name: null }]) await workspace.refuse("400 name", "PATCH", at, json)
      await workspace.refuse("400 slug", "PATCH", at, { slug: "Not a slug" })
      await workspace.refuse(`400 ${choice.field}`, "PATCH", at, { [choice.field]: null })
      await workspace.refuse(`400 ${optional.field}`, "PATCH", at, { [optional.field]: optional.wrong[0] })
      await workspace.refuse(`404 ${noun}`, "PATCH", `${path}/none`, { name: "X" })
    })

    test(`refuses the slug of another ${noun} in the workspace, archived or not`, async (owner) => {
      const workspace = await newWorkspace(owner)
      await workspace.post(path, body)
      await workspace.post(path, { ...body, slug: "other" })
      await workspace.refuse("409 slug_in_use", "POST", path, body)
      await workspace.refuse("409 slug_in_use", "PATCH", `${path}/other`, { slug: body.slug })
      await workspace.post(`${path}/${body.slug}/archive`, undefined, 200)
      await workspace.refuse("409 slug_in_use", "POST", path, body)
      await workspace.refuse("409 slug_in_use", "PATCH", `${path}/other`, { slug: body.slug })
      await (await newWorkspace(owner)).post(path, body)
    })

    test(`creates one ${noun} of many concurrent requests for a slug`, async (owner) => {
      const workspace = await newWorkspace(owner)
      const answers = await Promise.all(Array.from({ length: 8 }, () => workspace.send("POST", path, { json: body })))
      assert.deepStrictEqual(answers.map(refusal).toSorted(), ["201", ...Array<string>(7).fill("409 slug_in_use")])
    })

    test(`hides an archived ${noun} from the list until it is restored; doing either twice changes nothing`, async (owner) => {
      const workspace = await newWorkspace(owner)
      const first = await workspace.post<Archivable>(path, body)
      const second = await workspace.post<Archivable>(path, { ...body, slug: "second", name: "Second" })
      const act = (verb: string) => workspace.post<Archivable>(`${path}/${first.slug}/${verb}`, undefined, 200)
      assert.deepStrictEqual(await act("restore"), first)
      const archived = await later(first, act("archive"))
      assertTimestamp(archived.archivedAt)
      assert.deepStrictEqual(archived, {
        ...first,
        archived: true,
        archivedAt: archived.archivedAt,
        updatedAt: archived.updatedAt
      })
      assert.deepStrictEqual(await act("archive"), archived)
      assert.deepStrictEqual(await workspace.get<Archivable>(`${path}/${first.id}`), archived)
      assert.deepStrictEqual(await list(workspace), [second])
      assert.deepStrictEqual(await list(workspace, "?archived=exclude"), [second])
      assert.deepStrictEqual(await list(workspace, "?archived=only"), [archived])
      const both = [archived, second].toSorted((a, b) => (a.name < b.name ? -1 : 1))
      assert.deepStrictEqual(await list(workspace, "?archived=include"), both)
      for (const wrong of ["", "true", "Only"]) {
        await workspace.refuse("400 archived", "GET", `${path}?archived=${wrong}`)
      }
      const renamed = await later(archived, workspace.patch<Archivable>(`${path}/${first.slug}`, { name: "Renamed" }))
      assert.deepStrictEqual(renamed, { ...archived, name: "Renamed", updatedAt: renamed.updatedAt })
      const restored = await later(renamed, act("restore"))
      assert.deepStrictEqual(restored, { ...first, name: "Renamed", updatedAt: restored.updatedAt })
      assert.deepStrictEqual(await act("restore"), restored)
      for (const verb of ["archive", "restore"]) await workspace.refuse(`404 ${noun}`, "POST", `${path}/none/${verb}`)
    })

    test(`does not find ${noun}s of another workspace, by slug or by id`, async (owner) => {
      const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
      const { id, slug } = await other.post<Archivable>(path, body)
      for (const ref of [id, slug]) {
        await workspace.refuse(`404 ${noun}`, "GET", `${path}/${ref}`)
        await workspace.refuse(`404 ${noun}`, "PATCH", `${path}/${ref}`, { name: "Mine" })
        await workspace.refuse(`404 ${noun}`, "POST", `${path}/${ref}/archive`)
      }
      assert.deepStrictEqual(await list(workspace), [])
    })
  }

  test("has a base branch for each product, main unless it is told another", async (owner) => {
    const workspace = await newWorkspace(owner)
    const made = await workspace.post<Product>("products", { ...product, baseBranch: "trunk" })
    assert.strictEqual(made.baseBranch, "trunk")
    const changed = await workspace.patch<Product>("products/shop", { baseBranch: "release/2.x" })
    assert.strictEqual(changed.baseBranch, "release/2.x")
    assert.strictEqual((await workspace.get<Product>("products/shop")).baseBranch, "release/2.x")
    for (const baseBranch of ["", null, 1, "x".repeat(501)]) {
      await workspace.refuse("400 baseBranch", "PATCH", "products/shop", { baseBranch })
      await workspace.refuse("400 baseBranch", "POST", "products", { ...product, slug: "other", baseBranch })
    }
    const other = await workspace.post<Product>("products", { ...product, slug: "other" })
    assert.strictEqual(other.baseBranch, "main")
  })

  test("shows the product and environment of a deployment", async (owner) => {
    const workspace = await newWorkspace(owner)
    const shop = await workspace.post<Product>("products", { ...product, type: "website", repository: "acme/shop" })
    const staging = await workspace.post<Environment>("environments", { ...environment, emoji: "🧪" })
    const member = await join(workspace, "member")
    const created = await member.post<Deployment>("deployments", {
      product: "shop",
      environment: staging.id,
      baseUrl: "https://staging.shop.example/path?x=1",
      fixtureUrl: "http://localhost:3000/fixtures",
      version: "9fceb02",
      unknown: 1
    })
    const { createdAt, id } = created
    assert.deepStrictEqual(created, {
      ...unset(Deployment),
      id,
      product: { id: shop.id, slug: "shop", name: "Shop", type: "website", archived: false },
      environment: {
        id: staging.id,
        slug: "staging",
        name: "Staging",
        class: "non-production",
        emoji: "🧪",
        archived: false
      },
      baseUrl: "https://staging.shop.example/path?x=1",
      fixtureUrl: "http://localhost:3000/fixtures",
      version: "9fceb02",
      versionUpdatedAt: createdAt,
      active: true,
      createdAt,
      updatedAt: createdAt
    })
    assertId(id)
    assertTimestamp(createdAt)
    const viewer = await join(workspace, "viewer")
    for (const [p, e] of [
      ["shop", "staging"],
      [shop.id, staging.id],
      ["shop", staging.id]
    ]) {
      assert.deepStrictEqual(await viewer.get<Deployment>(`deployments/${p}/${e}`), created)
    }
    assert.deepStrictEqual(await deployments(viewer), [created])
  })

  test("requires a baseUrl for websites and APIs, but not for libraries, apps and services", async (owner) => {
    const workspace = await newWorkspace(owner)
    await workspace.post("environments", environment)
    const pair = (type: string) => ({ product: type, environment: "staging" })
    for (const type of ["library", "app", "service", "website", "api"]) {
      await workspace.post("products", { ...product, slug: type, type })
    }
    const made = await workspace.post<Deployment>("deployments", pair("library"))
    assert.deepStrictEqual([made.baseUrl, made.fixtureUrl, made.version], [null, null, null])
    await workspace.post("deployments", { ...pair("app"), baseUrl: null, fixtureUrl: null, version: null })
    await workspace.post("deployments", { ...pair("service"), baseUrl: "https://service.example" })
    for (const type of ["website", "api"]) {
      await workspace.refuse("400 baseUrl", "POST", "deployments", pair(type))
      await workspace.refuse("400 baseUrl", "POST", "deployments", { ...pair(type), baseUrl: null })
      await workspace.post("deployments", { ...pair(type), baseUrl: `http://${type}.example` })
      await workspace.refuse("400 baseUrl", "PATCH", `deployments/${type}/staging`, { baseUrl: null })
    }
    const cleared = await workspace.patch<Deployment>("deployments/service/staging", { baseUrl: null })
    assert.isNull(cleared.baseUrl)
  })

  test("accepts only absolute http(s) URLs in a deployment", async (owner) => {
    const workspace = await newDeployment(owner)
    await workspace.post("products", { ...product, slug: "app", type: "app" })
    const wrong = ["", "shop.example", "/path", "ftp://shop.example", "javascript:alert(1)", "https://", "http:/x", 1]
    for (const field of ["baseUrl", "fixtureUrl"]) {
      for (const value of wrong) {
        const body = { product: "app", environment: "staging", [field]: value }
        await workspace.refuse(`400 ${field}`, "POST", "deployments", body)
        await workspace.refuse(`400 ${field}`, "PATCH", "deployments/shop/staging", { [field]: value })
      }
    }
    for (const version of ["", "x".repeat(201), 7]) {
      await workspace.refuse("400 version", "PATCH", "deployments/shop/staging", { version })
    }
  })

  test("refuses a deployment of a product or environment that does not exist in the workspace", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newDeployment(owner)]
    await workspace.post("products", product)
    await workspace.post("environments", environment)
    const foreign = (await deployments(other))[0]!
    for (const ref of ["none", foreign.product.id]) {
      await workspace.refuse("404 product:", "POST", "deployments", { product: ref, environment: "staging" })
    }
    for (const ref of ["none", foreign.environment.id]) {
      await workspace.refuse("404 environment:", "POST", "deployments", { product: "shop", environment: ref })
    }
    await workspace.refuse("400 product", "POST", "deployments", { environment: "staging" })
    await workspace.refuse("400 environment", "POST", "deployments", { product: "shop", environment: "" })
    await workspace.refuse("404 deployment", "GET", "deployments/shop/staging")
    await workspace.refuse("404 deployment", "GET", "deployments/none/staging")
    await workspace.refuse("404 deployment", "PATCH", "deployments/shop/none", { version: "1" })
    await workspace.refuse("404 deployment", "DELETE", "deployments/shop/staging")
  })

  test("creates one deployment of a product in an environment under concurrent requests", async (owner) => {
    const workspace = await newWorkspace(owner)
    await workspace.post("products", product)
    await workspace.post("environments", environment)
    const body = { product: "shop", environment: "staging" }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => workspace.send("POST", "deployments", { json: body }))
    )
    assert.deepStrictEqual(answers.map(refusal).toSorted(), ["201", ...Array<string>(7).fill("409 deployment_exists")])
    await workspace.refuse("409 deployment_exists", "POST", "deployments", body)
  })

  test("changes only the fields of a deployment that are sent, and versionUpdatedAt only with the version", async (owner) => {
    const workspace = await newDeployment(owner, { fixtureUrl: "https://fixtures.example", version: "v1" })
    const at = "deployments/shop/staging"
    const before = await workspace.get<Deployment>(at)
    const patched = (json: object) => workspace.patch<Deployment>(at, json)
    const moved = await later(before, patched({ baseUrl: "https://new.example", unknown: 1, active: false }))
    assert.deepStrictEqual(moved, { ...before, baseUrl: "https://new.example", updatedAt: moved.updatedAt })
    const cleared = await later(moved, patched({ fixtureUrl: null }))
    assert.deepStrictEqual(cleared, { ...moved, fixtureUrl: null, updatedAt: cleared.updatedAt })
    const same = await patched({ version: "v1" })
    assert.strictEqual(same.versionUpdatedAt, before.versionUpdatedAt)
    const updated = await later(same, patched({ version: "v2" }))
    assert.deepStrictEqual(updated, {
      ...same,
      version: "v2",
      versionUpdatedAt: updated.updatedAt,
      updatedAt: updated.updatedAt
    })
    const unknown = await later(updated, patched({ version: null }))
    assert.deepStrictEqual(unknown, {
      ...updated,
      version: null,
      versionUpdatedAt: unknown.updatedAt,
      updatedAt: unknown.updatedAt
    })
    assert.deepStrictEqual(await patched({}), unknown)
    assert.deepStrictEqual(await workspace.get<Deployment>(at), unknown)
  })

  test("loses no concurrent change of a deployment", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = "deployments/shop/staging"
    await Promise.all([
      workspace.patch(at, { baseUrl: "https://one.example" }),
      workspace.patch(at, { fixtureUrl: "https://two.example" }),
      workspace.patch(at, { version: "three" })
    ])
    const { baseUrl, fixtureUrl, version } = await workspace.get<Deployment>(at)
    assert.deepStrictEqual([baseUrl, fixtureUrl, version], ["https://one.example", "https://two.example", "three"])
  })

  test("lists deployments by product name, then environment name, filtered by slug or id", async (owner) => {
    const workspace = await newWorkspace(owner)
    for (const [slug, name] of [
      ["b", "shop 10"],
      ["a", "Shop 9"]
    ]) {
      await workspace.post("products", { slug, name, type: "library" })
    }
    for (const [slug, name] of [
      ["x", "Test 2"],
      ["y", "prod"]
    ]) {
      await workspace.post("environments", { slug, name, class: "production" })
    }
    for (const [p, e] of [
      ["b", "x"],
      ["a", "x"],
      ["b", "y"],
      ["a", "y"]
    ]) {
      await workspace.post("deployments", { product: p, environment: e })
    }
    const pairs = async (query = "") =>
      (await deployments(workspace, query)).map((one) => one.product.slug + one.environment.slug)
    assert.deepStrictEqual(await pairs(), ["ay", "ax", "by", "bx"])
    const [first] = await deployments(workspace)
    assert.deepStrictEqual(await pairs("?product=b"), ["by", "bx"])
    assert.deepStrictEqual(await pairs(`?product=${first!.product.id}`), ["ay", "ax"])
    assert.deepStrictEqual(await pairs(`?environment=${first!.environment.id}`), ["ay", "by"])
    assert.deepStrictEqual(await pairs("?environment=x&product=a"), ["ax"])
    await workspace.refuse("404 product:", "GET", "deployments?product=none")
    await workspace.refuse("404 environment:", "GET", "deployments?environment=none&product=a")
    for (const filter of ["product", "environment", "archived"]) {
      await workspace.refuse(`400 ${filter}`, "GET", `deployments?${filter}=`)
    }
  })

  test("shows a deployment as inactive if something is archived, refuses changes, and allows its deletion", async (owner) => {
    for (const [archived, path] of [
      ["product", "products/shop"],
      ["environment", "environments/staging"]
    ] as const) {
      const workspace = await newDeployment(owner)
      await workspace.post("products", { ...product, slug: "app", name: "App" })
      const active = await workspace
        .post<Deployment>("environments", { ...environment, slug: "qa", name: "QA" })
        .then(() => workspace.post<Deployment>("deployments", { product: "app", environment: "qa" }))
      await workspace.post(`${path}/archive`, undefined, 200)
      const inactive = await workspace.get<Deployment>("deployments/shop/staging")
      assert.deepStrictEqual([inactive.active, inactive[archived].archived], [false, true])
      assert.deepStrictEqual(await deployments(workspace), [active])
      assert.deepStrictEqual(await deployments(workspace, "?archived=only"), [inactive])
      assert.deepStrictEqual(await deployments(workspace, "?archived=include"), [active, inactive])
      await workspace.refuse("409 archived", "PATCH", "deployments/shop/staging", { version: "v2" })
      const pair =
        archived === "product" ? { product: "shop", environment: "qa" } : { product: "app", environment: "staging" }
      await workspace.refuse("409 archived", "POST", "deployments", { ...pair, baseUrl: "https://shop.example" })
      await workspace.post(`${path}/restore`, undefined, 200)
      const restored = await workspace.patch<Deployment>("deployments/shop/staging", { version: "v2" })
      assert.deepStrictEqual([restored.active, restored[archived].archived], [true, false])
      await workspace.post(`${path}/archive`, undefined, 200)
      await workspace.delete("deployments/shop/staging")
    }
  })

  test("deletes a deployment, and the pair can be deployed again", async (owner) => {
    const workspace = await newDeployment(owner, { version: "v1" })
    const [{ id }] = (await deployments(workspace)) as [Deployment]
    await workspace.delete("deployments/shop/staging")
    await workspace.refuse("404 deployment", "GET", "deployments/shop/staging")
    await workspace.refuse("404 deployment", "DELETE", "deployments/shop/staging")
    assert.deepStrictEqual(await deployments(workspace, "?archived=include"), [])
    const again = await workspace.post<Deployment>("deployments", {
      product: "shop",
      environment: "staging",
      baseUrl: "https://again.example"
    })
    assert.notStrictEqual(again.id, id)
    assert.isNull(again.version)
  })

  test("requires a baseUrl in every deployment before a product becomes a website or API", async (owner) => {
    const workspace = await newWorkspace(owner)
    await workspace.post("products", product)
    await workspace.post("environments", environment)
    await workspace.post("deployments", { product: "shop", environment: "staging" })
    await workspace.refuse("409 needs_base_url", "PATCH", "products/shop", { type: "website" })
    await workspace.refuse("409 needs_base_url", "PATCH", "products/shop", { type: "api", name: "Renamed" })
    assert.strictEqual((await workspace.get<Product>("products/shop")).name, "Shop")
    await workspace.patch("products/shop", { type: "service" })
    await workspace.patch("deployments/shop/staging", { baseUrl: "https://shop.example" })
    await workspace.patch("products/shop", { type: "api" })
    await workspace.refuse("400 baseUrl", "PATCH", "deployments/shop/staging", { baseUrl: null })
    await workspace.delete("deployments/shop/staging")
    await workspace.patch("products/shop", { type: "library" })
  })

  test("shows the current state of a deployment's product and environment", async (owner) => {
    const workspace = await newDeployment(owner)
    await workspace.patch("products/shop", { name: "Web shop", slug: "web-shop", type: "api" })
    await workspace.patch("environments/staging", { name: "QA", class: "production", emoji: "🚀" })
    const shown = await workspace.get<Deployment>("deployments/web-shop/staging")
    assert.deepInclude(shown.product, { slug: "web-shop", name: "Web shop", type: "api" })
    assert.deepInclude(shown.environment, { name: "QA", class: "production", emoji: "🚀" })
  })

  test("lets an account key change the catalog within its role", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [admin, member] = [await accountKey(workspace, "admin"), await accountKey(workspace, "member")]
    await member.refuse("403 role_too_low", "POST", "products", product)
    await admin.post("products", product)
    await admin.post("environments", environment)
    await member.post("deployments", { product: "shop", environment: "staging" })
    await member.patch("deployments/shop/staging", { version: "v1" })
    await member.delete("deployments/shop/staging")
  })
})
