import { isAtLeast, mayAssign, Role } from "@delivery/domain/identity/Role"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const roles = ["viewer", "member", "admin", "owner"] as const

describe("Role", () => {
  it("is one of four", () => {
    for (const role of roles) assert.isTrue(Schema.is(Role)(role))
    for (const other of ["", "Owner", "guest", null, 3]) assert.isFalse(Schema.is(Role)(other))
  })

  it("may do what needs it or less", () => {
    const allowed = {
      viewer: ["viewer"],
      member: ["viewer", "member"],
      admin: ["viewer", "member", "admin"],
      owner: ["viewer", "member", "admin", "owner"]
    }
    for (const role of roles) {
      assert.deepStrictEqual(
        roles.filter((needed) => isAtLeast(role, needed)),
        allowed[role] as never
      )
    }
  })

  it("gives and takes owner as an owner alone", () => {
    for (const by of roles) {
      for (const from of roles) {
        assert.strictEqual(mayAssign(by, from), by === "owner" || from !== "owner", `${by} ${from}`)
        for (const to of roles) {
          const touchesOwner = from === "owner" || to === "owner"
          assert.strictEqual(mayAssign(by, from, to), by === "owner" || !touchesOwner, `${by} ${from} ${to}`)
        }
      }
    }
  })
})
