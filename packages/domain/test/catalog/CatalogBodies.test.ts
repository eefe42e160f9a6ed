import { CreateDeployment, UpdateDeployment } from "@delivery/domain/catalog/Deployment"
import { CreateEnvironment, UpdateEnvironment } from "@delivery/domain/catalog/Environment"
import { CreateProduct, needsBaseUrl, UpdateProduct } from "@delivery/domain/catalog/Product"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"

const decode = <A>(schema: Schema.ConstraintDecoder<A>, body: unknown): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(body))

const product = { slug: "shop", name: "Shop", type: "website" } as const
const environment = { slug: "staging", name: "Staging", class: "non-production" } as const
const deployment = { product: "shop", environment: "staging" } as const

describe("needsBaseUrl", () => {
  it("holds for websites and APIs", () => {
    const types = ["website", "api", "app", "library", "service"] as const
    assert.deepStrictEqual(types.filter(needsBaseUrl), ["website", "api"])
  })
})

describe("bodies of the catalog room", () => {
  it("need what is required and take what is not", () => {
    for (const [schema, body] of [
      [CreateProduct, product],
      [CreateEnvironment, environment],
      [CreateDeployment, deployment]
    ] as const) {
      assert.deepStrictEqual(decode<unknown>(schema, { ...body, archived: true, id: "x" }), body)
      for (const field of Object.keys(body)) {
        const { [field as never]: _, ...rest } = body
        assert.isUndefined(decode<unknown>(schema, rest), field)
        assert.isUndefined(decode<unknown>(schema, { ...body, [field]: null }), field)
        assert.isUndefined(decode<unknown>(schema, { ...body, [field]: "" }), field)
      }
    }
    for (const schema of [UpdateProduct, UpdateEnvironment, UpdateDeployment]) {
      assert.deepStrictEqual(decode<unknown>(schema, {}), {})
    }
  })

  it("know five types of products and two classes of environments", () => {
    for (const type of ["website", "api", "app", "library", "service"]) {
      assert.isDefined(decode(CreateProduct, { ...product, type }))
      assert.isDefined(decode(UpdateProduct, { type }))
    }
    for (const type of ["game", "Website", null]) assert.isUndefined(decode(UpdateProduct, { type }))
    for (const value of ["production", "non-production"]) {
      assert.isDefined(decode(CreateEnvironment, { ...environment, class: value }))
      assert.isDefined(decode(UpdateEnvironment, { class: value }))
    }
    for (const value of ["staging", "Production", null]) assert.isUndefined(decode(UpdateEnvironment, { class: value }))
  })

  it("name a repository as owner/name, or null", () => {
    for (const repository of ["acme/shop", "a/b", "Acme-2/web_shop.js", "a/.github", `a/${"x".repeat(198)}`, null]) {
      assert.deepStrictEqual(decode(UpdateProduct, { repository }), { repository })
    }
    for (const repository of [
      "",
      "shop",
      "/shop",
      "acme/",
      "acme/shop/x",
      "acme/ shop",
      "https://github.com/acme/shop",
      "acme/shöp",
      "acme/shop\n",
      `a/${"x".repeat(199)}`,
      1
    ]) {
      assert.isUndefined(decode(UpdateProduct, { repository }), String(repository))
    }
  })

  it("name a base branch of 1 to 500 characters", () => {
    for (const baseBranch of ["main", "release/1.x", "x".repeat(500)]) {
      assert.deepStrictEqual(decode(UpdateProduct, { baseBranch }), { baseBranch })
      assert.deepStrictEqual(decode(CreateProduct, { ...product, baseBranch }), { ...product, baseBranch })
    }
    for (const baseBranch of ["", "x".repeat(501), "a\u0000", null, 1]) {
      assert.isUndefined(decode(UpdateProduct, { baseBranch }), String(baseBranch))
    }
  })

  it("take an emoji of at most 16 characters, or null", () => {
    for (const emoji of ["🧪", "👩‍🚀", "x".repeat(16), null]) {
      assert.deepStrictEqual(decode(UpdateEnvironment, { emoji }), { emoji })
      assert.deepStrictEqual(decode(CreateEnvironment, { ...environment, emoji }), { ...environment, emoji })
    }
    for (const emoji of ["", " ", "x".repeat(17), "\ud83d", "\n"]) {
      assert.isUndefined(decode(UpdateEnvironment, { emoji }), JSON.stringify(emoji))
    }
  })

  it("accept absolute URLs and a version of 1 to 200 characters for a deployment, or null", () => {
    for (const field of ["baseUrl", "fixtureUrl"]) {
      for (const value of ["https://shop.example", null]) {
        assert.deepStrictEqual<unknown>(decode(UpdateDeployment, { [field]: value }), { [field]: value })
        assert.isDefined(decode(CreateDeployment, { ...deployment, [field]: value }))
      }
      for (const value of ["", "shop.example", "ftp://shop.example", 1]) {
        assert.isUndefined(decode(UpdateDeployment, { [field]: value }), String(value))
        assert.isUndefined(decode(CreateDeployment, { ...deployment, [field]: value }), String(value))
      }
    }
    for (const version of ["9fceb02", "v1 beta", " ", "x".repeat(200), null]) {
      assert.deepStrictEqual(decode(UpdateDeployment, { version }), { version })
    }
    for (const version of ["", "x".repeat(201), "\u0000", 1]) {
      assert.isUndefined(decode(UpdateDeployment, { version }), JSON.stringify(version))
    }
    for (const override of ["The payment is down", "x".repeat(2_000)]) {
      const input = { ...deployment, version: "9fceb02", override }
      assert.deepStrictEqual<unknown>(decode(CreateDeployment, input), input)
      for (const version of [null, undefined]) {
        assert.isUndefined(decode(CreateDeployment, { ...deployment, ...(version === null && { version }), override }))
      }
    }
    for (const override of ["", " ", "x".repeat(2_001), null, 1]) {
      assert.isUndefined(decode(CreateDeployment, { ...deployment, version: "9fceb02", override }), String(override))
    }
  })
})
