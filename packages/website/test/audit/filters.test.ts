import { describe, expect, it } from "vitest"
import { isFiltered, readAuditFilters } from "../../src/audit/filters.ts"
import { readCredentialsSearch, readKeysSearch } from "../../src/identity/search.ts"

describe("The addresses of records and settings", () => {
  it("have filters, and leave out what is none", () => {
    const filters = { action: "secret_read", actor: "a", outcome: "refused", subject: "b" } as const
    expect(readAuditFilters(filters)).toEqual(filters)
    expect(readAuditFilters({ action: {}, actor: "", outcome: "maybe", subject: " ", other: 1 })).toEqual({})
    expect([isFiltered(filters), isFiltered({})]).toEqual([true, false])
  })

  it("name a kind of credentials that there is", () => {
    expect(readCredentialsSearch({ kind: "session", state: "blocked" })).toEqual({ kind: "session", state: "blocked" })
    expect(readCredentialsSearch({ kind: "toString", state: "open" })).toEqual({})
    expect([readKeysSearch({ of: "workspace" }), readKeysSearch({ of: "me" })]).toEqual([{ of: "workspace" }, {}])
  })
})
