import { assert, describe, it } from "@effect/vitest"
import { beforeRestOfPath, isProbe, isStreamed } from "../../src/http/EndpointTraits.ts"

const files = "/v1/workspaces/main/test-runs/7/files/"

describe("the traits of endpoints", () => {
  it("distinguishes uploads from all other requests", () => {
    assert.isTrue(isStreamed({ method: "PUT", url: `${files}a/b.zip` }))
    assert.isFalse(isStreamed({ method: "GET", url: `${files}a/b.zip` }))
    assert.isFalse(isStreamed({ method: "PUT", url: "/v1/workspaces/main/files/a" }))
    assert.isFalse(isStreamed({ method: "PUT" }))
  })

  it("recognizes probes by their exact path", () => {
    assert.isTrue(isProbe({ url: "/health" }))
    assert.isTrue(isProbe({ url: "/ready" }))
    assert.isFalse(isProbe({ url: "/ready?x" }))
    assert.isFalse(isProbe({ url: "/v1/me" }))
  })

  it("finds where a file's path begins", () => {
    assert.strictEqual(beforeRestOfPath(`${files}a/b.zip?x=1`), files)
    assert.strictEqual(beforeRestOfPath(files), files)
    assert.isUndefined(beforeRestOfPath("/v1/workspaces/main/test-runs/7"))
  })
})
