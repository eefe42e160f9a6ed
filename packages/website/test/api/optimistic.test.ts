import { describe, expect, it } from "vitest"
import { makeOptimistic } from "../../src/api/optimistic.ts"
import { oneByOne } from "../../src/api/oneByOne.ts"

const gate = () => {
  let open = () => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

const nothing = () => Promise.resolve()
const moment = () => new Promise((resolve) => setImmediate(resolve))

describe("Changes before their answer", () => {
  it("stay until what they change was read anew", async () => {
    const changes = makeOptimistic<string>()
    const [sent, read] = [gate(), gate()]
    const done = changes.run(
      ["a"],
      () => sent.promise,
      () => read.promise
    )
    expect(changes.current()).toEqual(["a"])
    sent.open()
    await done
    expect(changes.current()).toEqual(["a"])
    read.open()
    await moment()
    expect(changes.current()).toEqual([])
  })

  it("take no other back when one is refused", async () => {
    const changes = makeOptimistic<string>()
    const held = gate()
    const other = changes.run(["b"], () => held.promise, nothing)
    await expect(changes.run(["a"], () => Promise.reject(new Error("No.")), nothing)).rejects.toThrow("No.")
    expect(changes.current()).toEqual(["b"])
    await changes.run(
      ["c", "d"],
      async (refuse) => {
        refuse("c")
      },
      nothing
    )
    await moment()
    expect(changes.current()).toEqual(["b", "d"])
    held.open()
    await other
    await moment()
    expect(changes.current()).toEqual([])
  })

  it("wait for the last of them before they go", async () => {
    const changes = makeOptimistic<string>()
    const [first, second] = [gate(), gate()]
    const one = changes.run(["a"], () => first.promise, nothing)
    const two = changes.run(["b"], () => second.promise, nothing)
    first.open()
    await one
    await moment()
    expect(changes.current()).toEqual(["a", "b"])
    second.open()
    await two
    await moment()
    expect(changes.current()).toEqual([])
  })
})

describe("Calls about one thing", () => {
  it("go one after the other, and those after a refused one go, too", async () => {
    const order: Array<string> = []
    const held = gate()
    const first = oneByOne("x", async () => {
      await held.promise
      order.push("first")
      throw new Error("No.")
    })
    const second = oneByOne("x", async () => void order.push("second"))
    await oneByOne("y", async () => void order.push("other"))
    held.open()
    await expect(first).rejects.toThrow("No.")
    await second
    expect(order).toEqual(["other", "first", "second"])
  })
})
