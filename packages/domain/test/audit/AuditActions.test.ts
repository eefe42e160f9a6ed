import { DeliveryApi } from "@delivery/domain/Api"
import { adminOperations, auditActions } from "@delivery/domain/audit/AuditActions"
import { RequiredScope } from "@delivery/domain/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"

describe("the actions of the audit", () => {
  it("have every operation with the scope admin, whose refusals are entries", () => {
    const found: Array<string> = []
    HttpApi.reflect(DeliveryApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
        if (Context.get(mergedAnnotations, RequiredScope) === "admin") {
          found.push(`${group.identifier}.${endpoint.identifier}`)
        }
      }
    })
    assert.deepStrictEqual(found.toSorted(), [...adminOperations])
  })

  it("are in order, each once", () => {
    assert.deepStrictEqual([...new Set(auditActions)].toSorted(), [...auditActions])
  })
})
