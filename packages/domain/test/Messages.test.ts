import { DeliveryApi } from "@delivery/domain/Api"
import { CreateDeployment, UpdateDeployment } from "@delivery/domain/catalog/Deployment"
import { CreateProduct } from "@delivery/domain/catalog/Product"
import { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { NumberInQuery } from "@delivery/domain/Numbers"
import { StartTestRun } from "@delivery/domain/runs/TestRun"
import { assert, describe, it } from "@effect/vitest"
import { Context, Result, Schema, SchemaIssue } from "effect"
import { HttpApi } from "effect/http-api"

/** What people read when a request is refused: messages say what is expected, never the name of a schema. */

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const problems = <A, I>(schema: Schema.Codec<A, I>, input: unknown): ReadonlyArray<string> => {
  const result = Schema.decodeUnknownResult(schema, { errors: "all" })(input)
  if (Result.isSuccess(result)) return []
  return format(result.failure.issue).issues.map(({ message, path }) =>
    [...(path ?? []).map(String), message].join(": ")
  )
}

describe("messages of refused requests", () => {
  it("names what is expected of every wrong field", () => {
    assert.deepStrictEqual(problems(CreateProduct, { slug: "Web Shop", name: " ", type: "game", repository: "shop" }), [
      "slug: Expected lower-case letters, digits and single hyphens between them",
      "name: Expected text that is not empty",
      "type: Expected one of website, api, app, library, service",
      "repository: Expected owner/name"
    ])
    assert.deepStrictEqual(problems(CreateProduct, { slug: "a".repeat(61), name: "a\nb" }), [
      "slug: Expected at most 60 characters",
      "name: Expected text without control characters",
      "type: Missing key"
    ])
    assert.deepStrictEqual(
      problems(CreateProduct, { slug: "0197a1b2-0000-7000-8000-0000000000d1", name: "Shop", type: "app" }),
      ["slug: Expected a slug that does not look like an id"]
    )
  })

  it("names them inside of lists and unions", () => {
    const test = { caseId: "a", title: "", file: "", coverage: "critical", testKind: "", attempt: null }
    assert.deepStrictEqual(
      problems(FinishTestRun, {
        interrupted: false,
        durationMs: 0,
        cleanup: 1,
        tests: [null, { ...test, attempt: 1 }, { ...test, attempt: { status: "flaky" } }]
      }),
      [
        "cleanup: Expected an object or null",
        "tests: 0: Expected an object",
        "tests: 1: attempt: Expected an object or null",
        "tests: 2: attempt: status: Expected one of failed, passed, skipped",
        "tests: 2: attempt: durationMs: Missing key",
        "tests: 2: attempt: startedAt: Missing key"
      ]
    )
    assert.deepStrictEqual(
      problems(
        StartTestRun.mapFields(({ git, selection }) => ({ git, selection })),
        {
          git: [],
          selection: { coverage: "all", folders: [], caseIds: [] }
        }
      ),
      ["git: Expected an object", "selection: coverage: Expected one of critical, acceptance, regression, exhaustive"]
    )
  })

  it("names what is wrong with commits", () => {
    const commit = { sha: "9fceb02", subject: "Add it" }
    assert.deepStrictEqual(problems(UpdateDeployment, { version: "v1", commits: [commit], waitMs: 30_000 }), [])
    for (const version of [{}, { version: null }]) {
      assert.deepStrictEqual(problems(UpdateDeployment, { ...version, commits: [] }), [
        "commits: Expected a version beside commits"
      ])
      assert.deepStrictEqual(
        problems(CreateDeployment, { product: "shop", environment: "staging", ...version, commits: [] }),
        ["commits: Expected a version beside commits"]
      )
    }
    assert.deepStrictEqual(
      problems(UpdateDeployment, { version: "v1", commits: Array.from({ length: 501 }, () => commit) }),
      ["commits: Expected at most 500 commits"]
    )
    assert.deepStrictEqual(
      problems(UpdateDeployment, {
        version: "v1",
        commits: [{ sha: "9fceb0", subject: 1, at: "today" }],
        waitMs: 30_001
      }),
      [
        "commits: 0: sha: Expected 7 to 64 hexadecimal digits",
        "commits: 0: subject: Expected string",
        "commits: 0: at: Expected an ISO 8601 timestamp with an offset",
        "waitMs: Expected a whole number of milliseconds from 0 to 30000"
      ]
    )
  })

  it("accepts only plain whole numbers in queries", () => {
    for (const text of ["1", "12", "2147483647"]) {
      assert.strictEqual(Schema.decodeUnknownSync(NumberInQuery)(text), Number(text))
    }
    for (const text of ["", " ", "0", "-1", "1.5", "1e3", "0x10", " 12 ", "2147483648", "99999999999"]) {
      assert.deepStrictEqual(problems(NumberInQuery, text), ["Expected a whole number from 1 to 2147483647"], text)
    }
  })

  it("expects an object as a body", () => {
    HttpApi.reflect(DeliveryApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, group }) => {
        for (const schema of [...endpoint.payload.values()].flatMap(({ encoding, schemas }) =>
          encoding._tag === "Json" ? schemas : []
        )) {
          // A body that may be left out.
          if (schema.ast._tag === "Null") continue
          const found = problems(schema as unknown as Schema.Codec<unknown>, null)
          assert.deepStrictEqual(found, ["Expected an object"], `${group.identifier}.${endpoint.identifier}`)
        }
      }
    })
  })

  it("lists all errors of queries, and the first of bodies, which may have millions", () => {
    HttpApi.reflect(DeliveryApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, mergedAnnotations }) => {
        assert.strictEqual(Context.getOrUndefined(mergedAnnotations, HttpApi.QueryParseOptions)?.errors, "all")
        const payload = Context.getOrUndefined(mergedAnnotations, HttpApi.PayloadParseOptions)
        assert.notStrictEqual(payload?.errors, "all", endpoint.identifier)
      }
    })
  })
})
