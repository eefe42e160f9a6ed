import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { lean } from "../../src/http/LeanContext.ts"
import { Products } from "../../src/catalog/Products.ts"

class Foreign extends Context.Service<Foreign, { readonly value: number }>()("@consumer/app/Foreign") {}

describe("the context of a request", () => {
  it("leaves out the services of the server, and keeps those of other packages", () => {
    const products = {} as Products["Service"]
    const context = Context.make(Foreign, { value: 1 }).pipe(Context.add(Products, products))
    assert.strictEqual(Context.get(context, Products), products)
    const left = lean(context)
    assert.deepStrictEqual(Context.get(left, Foreign), { value: 1 })
    assert.isUndefined(Context.getOrUndefined(left, Products))
  })
})
