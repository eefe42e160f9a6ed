import { adminOperations } from "@delivery/domain/audit/AuditActions"
import { describe, expect, it } from "vitest"
import { actionWords } from "../../src/audit/words.ts"

describe("An action of the audit", () => {
  it("is told in words", () => {
    expect(actionWords("key_created")).toBe("key created")
    expect(actionWords("members.update")).toBe("members: update")
    expect(actionWords("accountApiKeys.create")).toBe("account API keys: create")
    expect(actionWords("readiness.setPolicy")).toBe("readiness: set policy")
    expect(adminOperations.map(actionWords).filter((words) => /[a-z][A-Z]|\./.test(words))).toEqual([])
    // Of a later server.
    expect(actionWords("constructor")).toBe("constructor")
  })
})
